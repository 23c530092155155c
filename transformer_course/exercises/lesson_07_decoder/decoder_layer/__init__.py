"""One layer of a decoder: back, across, and by itself."""

from collections.abc import Mapping
from typing import Any

from transformer_course.exercise import Exercise, Wording
from transformer_course.exercises.lesson_07_decoder.decoder_layer import mistakes_norms, mistakes_sublayers
from transformer_course.exercises.lesson_07_decoder.decoder_layer.answer import STEPS, DecoderLayer
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.exercises.shared.draw_layers import decoder_layer_parameters, drawn_mask
from transformer_course.running.case import Case


def decoder_layer_cases(seed: int) -> list[Case]:
    """Draw the cases.

    Those with masks have as many source as target positions in all calls, so that what is exchanged does not crash.
    """
    rng = generator(seed)

    def call(batch: int, n: int, n_source: int, d_model: int, **masks: tuple[int, ...]) -> dict[str, Any]:
        drawn = {"x": normal(rng, batch, n, d_model), "memory": normal(rng, batch, n_source, d_model)}
        none = {"mask": None, "memory_mask": None}  # said, as later calls keep what they do not change
        return drawn | none | {name: drawn_mask(rng, *shape) for name, shape in masks.items()}

    def case(shows: str, d_model: int, n_heads: int, given: Mapping[str, Any], *later: Mapping[str, Any]) -> Case:
        inputs = {name: given[name] for name in ("x", "memory")}
        return Case(
            inputs,
            shows,
            kind="module",
            arguments={"d_model": d_model, "n_heads": n_heads, "d_ff": 2 * d_model + 1},
            parameters=decoder_layer_parameters(rng, d_model, 2 * d_model + 1),
            keywords={name: mask for name, mask in given.items() if name not in inputs and mask is not None},
            later=later,
        )

    return [
        case("2 positions, a memory of 3, no masks", 4, 1, call(1, 2, 3, 4)),
        case("a mask of shape (n, n) alone", 4, 2, call(1, 3, 3, 4, mask=(3, 3)), call(1, 3, 3, 4), call(2, 4, 4, 4)),
        case(
            "a memory mask alone, of shape (batch, 1, 1, n_source)",
            6,
            2,
            call(2, 3, 3, 6, memory_mask=(2, 1, 1, 3)),
            call(3, 4, 4, 6),
        ),
        case(
            "both masks",
            8,
            2,
            call(3, 5, 5, 8, mask=(3, 1, 5, 5), memory_mask=(3, 1, 1, 5)),
            call(2, 4, 4, 8, mask=(2, 1, 4, 4), memory_mask=(2, 1, 1, 4)),
        ),
        case("a batch of 5: 13 positions, a memory of 11", 12, 4, call(5, 13, 11, 12), call(2, 3, 7, 12)),
    ]


EXERCISE = Exercise(
    reference=DecoderLayer,
    steps=STEPS,
    cases=decoder_layer_cases,
    points=4,
    verified="Each attention is given its own mask, whatever the two lengths, and each of the three sublayers has a "
    "residual connection and a norm after it.",
    hints=[
        "Three sublayers, one line each, all of the same form: x becomes norm(x + sublayer(x)). In which order, and "
        "with which norms?",
        "Self-attention is given x three times, and `mask`. The queries of the cross-attention are x; its keys and "
        "values both come from the memory.",
        "The cross-attention is `self.cross_attention(x, memory, memory, memory_mask)`.",
        "`x = self.norm_1(x + self.self_attention(x, x, x, mask))`, and then two more of the kind.",
    ],
    messages={
        "inverted_mask": Wording(
            "Read the wrong way round: {summary}. True means *may attend to*, for the attention as well.",
            summary="`mask` is inverted",
            hints=["Which meaning has True in this course, and which in `nn.MultiheadAttention`?"],
        ),
        "inverted_memory_mask": Wording(
            "Read the wrong way round: {summary}. True means *may attend to*, for the attention as well.",
            summary="`memory_mask` is inverted",
            hints=["Which meaning has True in this course, and which in `nn.MultiheadAttention`?"],
        ),
        "ignored_mask": (
            "The self-attention has no mask: each position attends to those after it, and so to the tokens it should "
            "predict. Look at where `mask` is used."
        ),
        "ignored_memory_mask": (
            "The cross-attention has no mask: where the source is padded, the decoder reads the padding, too. Look at "
            "where `memory_mask` is used."
        ),
        "index_self_attended: attentions[1]": (
            "`cross_attention` is called in the first sublayer, where `self_attention` belongs."
        ),
        "index_cross_attended: attentions[0]": (
            "`self_attention` is called in the second sublayer as well, where `cross_attention` belongs."
        ),
    },
    mistakes=[*mistakes_sublayers.MISTAKES, *mistakes_norms.MISTAKES],
)
