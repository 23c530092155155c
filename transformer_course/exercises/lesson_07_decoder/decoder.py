"""The decoder: a stack of layers applied to embedded tokens."""

import math
from typing import Any

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import layer_stack as stack
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.draw_layers import decoder_layer_parameters, drawn_mask, drawn_tokens
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


class Decoder(nn.Module):
    """Embed tokens, add their positions, and pass them through layers that all read the same memory."""

    positions: Tensor

    def __init__(self, vocab_size: int, d_model: int, n_heads: int, d_ff: int, n_layers: int, max_length: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, d_model)
        self.register_buffer("positions", parts.sinusoidal_encoding(max_length, d_model), persistent=False)
        self.layers = nn.ModuleList(parts.DecoderLayer(d_model, n_heads, d_ff) for _ in range(n_layers))

    def forward(
        self,
        tokens: Int[Tensor, "batch n"],
        memory: Float[Tensor, "batch n_source d_model"],
        mask: Bool[Tensor, "*#batch #n #n"] | None = None,
        memory_mask: Bool[Tensor, "*#batch #n #n_source"] | None = None,
    ) -> Float[Tensor, "batch n d_model"]:
        x = self.embedding(tokens) * math.sqrt(self.embedding.embedding_dim) + self.positions[: tokens.shape[1]]
        for layer in self.layers:
            x = layer(x, memory, mask, memory_mask)
        return x


def source(memory):
    """pass the memory to every layer → the memory of each layer"""
    return lambda number, x: memory


def layer_mask(mask):
    """pass `mask` to every layer → the target mask of each layer"""
    return lambda number: mask


def source_mask(memory_mask):
    """pass `memory_mask` to every layer → the memory mask of each layer"""
    return lambda number: memory_mask


def layer_output(source, layer_mask, source_mask):
    """call each layer with its input, the memory and both masks → the output of each layer"""
    return lambda layer, number, x: layer(x, source(number, x), layer_mask(number), source_mask(number))


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
    source,
    layer_mask,
    source_mask,
    layer_output,
    stack.kept,
    stack.outputs,
    stack.output,
    reference=Decoder,
)


VOCAB_SIZE, MAX_LENGTH = 17, 19


def decoder_cases(seed: int) -> list[Case]:
    """Draw the cases.

    With masks, source and target have the same length in all calls, so that swapping the masks does not raise an error.
    """
    rng = generator(seed)

    def call(batch: int, n: int, n_source: int, d_model: int, **masks: tuple[int, ...]) -> dict[str, Any]:
        return {
            "tokens": drawn_tokens(rng, VOCAB_SIZE, batch, n),
            "memory": normal(rng, batch, n_source, d_model),
            "mask": None,  # set explicitly, because later calls reuse every input they do not replace
            "memory_mask": None,
            **{name: drawn_mask(rng, *shape) for name, shape in masks.items()},
        }

    def case(shows: str, d_model: int, n_layers: int, given: dict[str, Any], *later: dict[str, Any]) -> Case:
        d_ff = 2 * d_model + 1
        parameters = {"embedding.weight": normal(rng, VOCAB_SIZE, d_model)}
        for i in range(n_layers):
            layer = decoder_layer_parameters(rng, d_model, d_ff)
            parameters |= {f"layers.{i}.{name}": parameter for name, parameter in layer.items()}
        sizes = {"vocab_size": VOCAB_SIZE, "d_model": d_model, "n_heads": 2, "d_ff": d_ff, "n_layers": n_layers}
        inputs = {name: given[name] for name in ("tokens", "memory")}
        return Case(
            inputs,
            shows,
            kind="module",
            arguments={**sizes, "max_length": MAX_LENGTH},
            parameters=parameters,
            keywords={name: mask for name, mask in given.items() if name not in inputs and mask is not None},
            later=later,
        )

    return [
        case("one layer, 2 tokens, a memory of 3, no masks", 4, 1, call(1, 2, 3, 4)),
        case(
            "2 layers, a mask of shape (n, n) alone",
            4,
            2,
            call(2, 3, 3, 4, mask=(3, 3)),
            call(2, 3, 3, 4),  # same shapes, so that values kept from the first call do not raise an error
            call(3, 4, 4, 4),
        ),
        case("2 layers, a memory mask alone", 6, 2, call(2, 3, 3, 6, memory_mask=(2, 1, 1, 3)), call(3, 4, 4, 6)),
        case(
            "3 layers, both masks",
            8,
            3,
            call(3, 5, 5, 8, mask=(3, 1, 5, 5), memory_mask=(3, 1, 1, 5)),
            call(2, 4, 4, 8, mask=(2, 1, 4, 4), memory_mask=(2, 1, 1, 4)),
        ),
        case(
            "3 layers, a batch of 5: 13 tokens, a memory of 11",
            20,  # larger than the number of rows in either table
            3,
            call(5, 13, 11, 20),
            call(2, 3, 7, 20),
        ),
    ]


MISTAKES = [
    Mistake(
        "memory_from_layer_to_layer",
        STEPS.but(source=lambda memory: lambda number, x: x if number else memory),
        STEPS.but(
            layer_output=lambda first_input, memory, layer_mask, source_mask: (
                lambda layer, number, x: layer(
                    first_input, x if number else memory, layer_mask(number), source_mask(number)
                )
            )
        ),
        summary="you pass the output of the previous layer as the memory, from the second layer on",
        message=(
            "From the second layer on, you pass the previous layer's output as the memory, so these layers don't read "
            "the source. Every layer should read the same memory. Which variable should your loop update?"
        ),
        hints=[
            "Two arguments of a layer are `x` and `memory`. Which of them should change from one layer to the next?"
        ],
    ),
    Mistake(
        "x_and_memory_swapped",
        STEPS.but(
            layer_output=lambda memory, layer_mask, source_mask: (
                lambda layer, number, x: layer(memory, x, layer_mask(number), source_mask(number))
            )
        ),
        summary="you swap `x` and the memory when you call the layers",
        message=(
            "{summary}, so your output has one vector for each source position instead of each target position. In "
            "which order does a decoder layer take its arguments?"
        ),
        hints=["With 2 target tokens and a memory of 3 positions, what shape should your output have?"],
    ),
    Mistake(
        "reads_itself",
        STEPS.but(source=lambda: lambda number, x: x),
        summary="you pass the target to the layers instead of the memory",
        message=(
            "{summary}, so your output doesn't depend on the source at all. What is the second argument of a "
            "decoder layer?"
        ),
        hints=["Where does your loop use `memory`?"],
    ),
    Mistake(
        "positions_added_to_the_memory",
        STEPS.but(memory=lambda self, memory: memory + self.positions[: memory.shape[1]]),
        summary="you add positional encodings to the memory",
        message=(
            "{summary}. The memory is the output of the encoder, which already added positional encodings to its own "
            "input, so you add them a second time. What should you pass to the layers as the memory?"
        ),
        hints=["Where does lesson 06 add the positional encodings of the source?"],
    ),
    Mistake(
        "masks_swapped",
        STEPS.but(
            layer_mask=lambda memory_mask: lambda number: memory_mask, source_mask=lambda mask: lambda number: mask
        ),
        summary="you swap `mask` and `memory_mask` when you call the layers",
        message=(
            "{summary}, so the padding of the source decides which target positions are hidden. In which order does a "
            "decoder layer take its masks?"
        ),
        hints=[
            "In `layer(x, memory, …, …)`, which mask comes first: the mask of the target or the mask of the memory?"
        ],
    ),
    Mistake(
        "shifted_inside",
        STEPS.but(tokens=lambda tokens: F.pad(tokens, (1, -1))),
        STEPS.but(tokens=lambda tokens: tokens.roll(1, 1)).attempt,
        summary="you shift the tokens inside the decoder",
        message=(
            "{summary}. During training, the caller has already shifted them, so you shift them twice: for the labels "
            "[5, 6, 7], position 2 reads 5 instead of 6. Which tokens should your decoder embed?"
        ),
        hints=["For the tokens [[5, 6, 7]], which token should your decoder embed at position 0?"],
    ),
]


EXERCISE = Exercise(
    reference=Decoder,
    steps=STEPS,
    cases=decoder_cases,
    points=2,
    verified="You embed the tokens and add their positions, and every layer reads the same memory.",
    hints=[
        "How did the encoder of lesson 06 turn tokens into the input of its first layer?",
        "Multiply the embeddings by √d_model and add one row of `self.positions` for each token. Then call the layers "
        "in turn, each on the output of the previous one. Which arguments are the same for every layer?",
        "`for layer in self.layers:`, and inside the loop `x = layer(x, memory, mask, memory_mask)`.",
    ],
    messages={
        "length_length: memory.shape[-2]": Wording(
            "You take one row of `positions` for each position of the *memory* and add these rows to the target. With "
            "2 target tokens and a memory of 3, the shapes don't match. How many rows should you take?",
            summary="you take one row of `positions` for each position of the memory instead of the target",
            hints=["To which sequence do you add the positions, and how long is it?"],
        ),
        **stack.INPUT_MESSAGES,
        **stack.LAYER_MESSAGES,
        "inverted_mask": stack.inverted("mask"),
        "inverted_memory_mask": stack.inverted("memory_mask"),
        "ignored_mask": Wording(
            "You don't pass `mask` to the layers, so target positions attend to positions that `mask` should hide. "
            "Which arguments does a decoder layer take?",
            summary="you don't pass `mask` to the layers",
            hints=["A decoder layer takes `x`, the memory and two masks. What do you pass instead of `mask`?"],
        ),
        "ignored_memory_mask": (
            Wording(
                "You don't pass `memory_mask` to the layers, so they attend to source positions that `memory_mask` "
                "should hide. Which arguments does a decoder layer take?",
                summary="you don't pass `memory_mask` to the layers",
                hints=["A decoder layer takes `x`, the memory and two masks. What do you pass as the second mask?"],
            )
        ),
    },
    mistakes=[
        *MISTAKES,
        *stack.layer_mistakes(STEPS),
        stack.all_outputs(STEPS),
        *stack.input_mistakes(STEPS),
        *stack.mask_mistakes(STEPS, "layer_mask", "mask"),
        *stack.mask_mistakes(STEPS, "source_mask", "memory_mask"),
        stack.own_mask(STEPS, "decoder"),
    ],
)
