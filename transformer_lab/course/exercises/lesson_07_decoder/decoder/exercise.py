"""A stack of decoder layers on top of embedded tokens."""

import torch

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_07_decoder.decoder import (
    mistakes_embedding,
    mistakes_layers,
    mistakes_memory_and_masks,
)
from transformer_lab.course.exercises.lesson_07_decoder.shared.reference_pieces import Decoder
from transformer_lab.course.exercises.shared.draw_cases import generator, normal
from transformer_lab.course.exercises.shared.draw_layers import decoder_layer_parameters, drawn_mask
from transformer_lab.course.running.case import Case

VOCAB_SIZE, MAX_LENGTH = 17, 19


def decoder_cases(seed: int) -> list[Case]:
    """Masks come only with as many source as target positions: those that change places then do not crash."""
    rng = generator(seed)

    def case(
        batch: int, n: int, n_source: int, d_model: int, n_layers: int, shows: str, **masks: tuple[int, ...]
    ) -> Case:
        d_ff = 2 * d_model + 1
        parameters = {"embedding.weight": normal(rng, VOCAB_SIZE, d_model)}
        for i in range(n_layers):
            layer = decoder_layer_parameters(rng, d_model, d_ff)
            parameters |= {f"layers.{i}.{name}": parameter for name, parameter in layer.items()}
        sizes = {"vocab_size": VOCAB_SIZE, "d_model": d_model, "n_heads": 2, "d_ff": d_ff, "n_layers": n_layers}
        return Case(
            {
                "tokens": torch.randint(VOCAB_SIZE, (batch, n), generator=rng),
                "memory": normal(rng, batch, n_source, d_model),
            },
            shows,
            kind="module",
            arguments={**sizes, "max_length": MAX_LENGTH},
            parameters=parameters,
            keywords={name: drawn_mask(rng, *shape) for name, shape in masks.items()},
        )

    return [
        case(1, 2, 3, 4, 1, "one layer, 2 tokens, a memory of 3, no masks"),
        case(3, 5, 5, 8, 2, "2 layers, both masks", mask=(3, 1, 5, 5), memory_mask=(3, 1, 1, 5)),
        case(5, 13, 11, 20, 3, "3 layers, a batch of 5: 13 tokens, a memory of 11"),  # wider than the table is long
    ]


DECODER = Exercise(
    reference=Decoder,
    cases=decoder_cases,
    points=2,
    verified="Tokens are embedded and placed, and every layer reads one and the same memory. Next: what a decoder is "
    "fed while it learns.",
    hints=[
        "It begins as the encoder of lesson 06 did: embeddings times the root of d_model, plus as many rows of "
        "`self.positions` as there are tokens.",
        "Then the layers, one after the other: each takes what the one before gave. What do all of them take that "
        "never changes?",
        "`for layer in self.layers:` and in it `x = layer(x, memory, mask, memory_mask)`.",
    ],
    mistakes=[*mistakes_memory_and_masks.MISTAKES, *mistakes_layers.MISTAKES, *mistakes_embedding.MISTAKES],
)
