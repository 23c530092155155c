"""A stack of decoder layers on top of embedded tokens."""

from typing import Any

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_07_decoder.decoder.answer import STEPS, Decoder
from transformer_course.exercises.lesson_07_decoder.decoder.mistakes import MISTAKES
from transformer_course.exercises.shared import layer_stack_mistakes
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.draw_layers import decoder_layer_parameters, drawn_mask, drawn_tokens
from transformer_course.running.case import Case

VOCAB_SIZE, MAX_LENGTH = 17, 19


def decoder_cases(seed: int) -> list[Case]:
    """Draw the cases.

    Those with masks have as many source as target positions in all calls, so that what is exchanged does not crash.
    """
    rng = generator(seed)

    def call(batch: int, n: int, n_source: int, d_model: int, **masks: tuple[int, ...]) -> dict[str, Any]:
        return {
            "tokens": drawn_tokens(rng, VOCAB_SIZE, batch, n),
            "memory": normal(rng, batch, n_source, d_model),
            "mask": None,  # said, as later calls keep what they do not change
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
            call(2, 3, 3, 4),  # as large: what was kept of the first call fits
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
            20,  # wider than the table is long
            3,
            call(5, 13, 11, 20),
            call(2, 3, 7, 20),
        ),
    ]


DECODER = Exercise(
    reference=Decoder,
    steps=STEPS,
    cases=decoder_cases,
    points=2,
    verified="Tokens are embedded and given positions, and every layer reads one and the same memory.",
    hints=[
        "It begins as the encoder of lesson 06 did: embeddings times the root of d_model, plus as many rows of "
        "`self.positions` as there are tokens.",
        "Then the layers, one after the other: each is given the output of the one before. What are all of them given "
        "that never changes?",
        "`for layer in self.layers:` and in it `x = layer(x, memory, mask, memory_mask)`.",
    ],
    told={
        "ignored_mask": "The layers are not given `mask`: they attend to what it hides.",
        "ignored_memory_mask": "The layers are not given `memory_mask`: they attend to what it hides.",
    },
    mistakes=[
        *MISTAKES,
        *layer_stack_mistakes.layer_mistakes(STEPS),
        layer_stack_mistakes.all_outputs(STEPS),
        *layer_stack_mistakes.input_mistakes(STEPS),
        *layer_stack_mistakes.mask_mistakes(STEPS, "layer_mask", "mask"),
        *layer_stack_mistakes.mask_mistakes(STEPS, "source_mask", "memory_mask"),
        layer_stack_mistakes.own_mask(STEPS, "decoder"),
    ],
)
