"""A stack of layers on embedded tokens."""

import torch
from torch import Tensor

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_06_encoder.encoder import (
    mistakes_constructor,
    mistakes_embedding,
    mistakes_layers,
)
from transformer_lab.course.exercises.lesson_06_encoder.shared.reference_pieces import Encoder
from transformer_lab.course.exercises.shared.draw_cases import generator, normal
from transformer_lab.course.exercises.shared.draw_layers import drawn_mask, layer_parameters
from transformer_lab.course.running.case import Case


def encoder_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch: int, n: int, sizes: tuple[int, ...], shows: str, *mask: int) -> Case:
        names = ("vocab_size", "d_model", "n_heads", "d_ff", "n_layers", "max_length")
        arguments = dict(zip(names, sizes, strict=True))
        return Case(
            {"tokens": torch.randint(arguments["vocab_size"], (batch, n), generator=rng)},
            shows,
            kind="module",
            arguments=arguments,
            parameters=encoder_parameters(**arguments),
            keywords={"mask": drawn_mask(rng, *mask)} if mask else {},
        )

    def encoder_parameters(vocab_size: int, d_model: int, d_ff: int, n_layers: int, **_: int) -> dict[str, Tensor]:
        parameters = {"embedding.weight": normal(rng, vocab_size, d_model) / d_model**0.5}
        for number in range(n_layers):
            layer = layer_parameters(rng, d_model, d_ff)
            parameters |= {f"layers.{number}.{name}": parameter for name, parameter in layer.items()}
        return parameters

    return [
        case(1, 3, (5, 4, 1, 6, 2, 7), "one sentence of 3 tokens, 2 layers"),
        case(2, 3, (7, 6, 2, 11, 2, 11), "2 sentences of 3 tokens"),
        case(2, 5, (7, 6, 3, 11, 3, 11), "a mask of shape (batch, 1, 1, n), 3 layers", 2, 1, 1, 5),
        case(5, 13, (17, 24, 4, 40, 2, 19), "a mask of shape (n, n)", 13, 13),
    ]


ENCODER = Exercise(
    reference=Encoder,
    cases=encoder_cases,
    points=3,
    verified="Tokens become vectors, vectors get their positions, and every layer works on what the one before gave. "
    "Next: what such a stack can learn.",
    hints=[
        "Three steps: look the tokens up and scale; add positions; go through the layers.",
        "`self.embedding(tokens)` has the shape (batch, n, d_model). A sentence of n tokens needs the first n rows of "
        "`self.positions`, which has the shape (max_length, d_model).",
        "`x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)`, then "
        "`x = x + self.positions[: tokens.shape[1]]`.",
        "`for layer in self.layers:` and in it `x = layer(x, mask)`.",
    ],
    mistakes=[*mistakes_embedding.MISTAKES, *mistakes_layers.MISTAKES, *mistakes_constructor.MISTAKES],
)
