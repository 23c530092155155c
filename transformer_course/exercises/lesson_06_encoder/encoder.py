"""The encoder: a stack of layers applied to embedded tokens."""

import math
from typing import Any

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from transformer_course.exercise import Exercise, Wording
from transformer_course.exercises.shared import layer_stack as stack
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.draw_layers import drawn_mask, drawn_tokens, stack_parameters
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


class Encoder(nn.Module):
    """Embed tokens, add their positions, and pass them through a stack of post-norm layers."""

    positions: Tensor

    def __init__(self, vocab_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, max_length: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", parts.sinusoidal_encoding(max_length, d_model), persistent=False)
        self.layers = nn.ModuleList(parts.EncoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers))

    def forward(
        self, tokens: Int[Tensor, "batch n"], mask: Bool[Tensor, "*#batch #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim) + self.positions[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x, mask)
        return x


STEPS = InSteps(
    stack.embedded,
    stack.width,
    stack.factor,
    stack.scaled,
    stack.length,
    stack.encodings,
    stack.first_input,
    stack.layers,
    stack.layer_input,
    stack.layer_mask,
    stack.layer_output,
    stack.kept,
    stack.outputs,
    stack.output,
    reference=Encoder,
)


def encoder_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def call(vocab_size: int, batch: int, n: int, *mask: int) -> dict[str, Any]:
        tokens = drawn_tokens(rng, vocab_size, batch, n)
        return {"tokens": tokens, "mask": drawn_mask(rng, *mask) if mask else None}

    def case(sizes: tuple[int, ...], shows: str, given: dict[str, Any], *later: dict[str, Any]) -> Case:
        names = ("vocab_size", "d_model", "n_heads", "d_ff", "n_layers", "max_length")
        arguments = dict(zip(names, sizes, strict=True))
        return Case(
            {"tokens": given["tokens"]},
            shows,
            kind="module",
            arguments=arguments,
            parameters=encoder_parameters(**arguments),
            keywords={"mask": given["mask"]} if given["mask"] is not None else {},
            later=later,
        )

    def encoder_parameters(vocab_size: int, d_model: int, d_ff: int, n_layers: int, **_: int) -> dict[str, Tensor]:
        parameters = {"embedding.weight": normal(rng, vocab_size, d_model) / d_model**0.5}
        return parameters | stack_parameters(rng, d_model, d_ff, n_layers, "layers")

    return [
        case((5, 4, 1, 6, 1, 7), "one sentence of 3 tokens, one layer", call(5, 1, 3)),
        case((7, 6, 2, 11, 2, 11), "2 sentences of 3 tokens, 2 layers", call(7, 2, 3), call(7, 2, 3), call(7, 3, 5)),
        case(
            (7, 6, 3, 11, 3, 11),
            "a mask of shape (batch, 1, 1, n), 3 layers",
            call(7, 2, 5, 2, 1, 1, 5),
            call(7, 3, 4, 3, 1, 1, 4),
            call(7, 1, 7),
        ),
        case((17, 24, 4, 40, 2, 19), "a mask of shape (n, n)", call(17, 5, 13, 13, 13)),
    ]


EXERCISE = Exercise(
    reference=Encoder,
    steps=STEPS,
    cases=encoder_cases,
    points=3,
    verified=("You embed the tokens, add their positions, and pass each layer the output of the previous layer."),
    hints=[
        "Follow one sentence of 3 tokens: which operation turns its token IDs into vectors, what do you add to the "
        "vectors, and what comes next?",
        "`self.embedding(tokens)` has shape (batch, n, d_model). A sentence of n tokens needs the first n rows of "
        "`self.positions`, which has shape (max_length, d_model).",
        "`x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim)`, then `x = x + self.positions[: "
        "tokens.shape[1]]`.",
        "`for layer in self.layers:`, and inside the loop `x = layer(x, mask)`.",
    ],
    messages={
        **stack.INPUT_MESSAGES,
        **stack.LAYER_MESSAGES,
        "inverted_mask": stack.inverted("mask"),
        "index_output: outputs[-2]": Wording(
            "{summary}, so the last layer has no effect. Does your loop call every layer?",
            summary="you return the output of the second-to-last layer",
            hints=["With two layers, how many times does your code call a layer?"],
        ),
        "ignored_mask": Wording(
            "Your output doesn't depend on `mask`, so positions attend to positions that the mask should hide. Which "
            "arguments do you pass to each layer?",
            summary="your output doesn't depend on `mask`",
            hints=["Which two arguments does an encoder layer take?"],
        ),
    },
    mistakes=[
        *stack.input_mistakes(STEPS),
        *stack.layer_mistakes(STEPS),
        stack.all_outputs(STEPS),
        *stack.mask_mistakes(STEPS, "layer_mask", "mask"),
        stack.own_mask(STEPS, "encoder"),
    ],
)
