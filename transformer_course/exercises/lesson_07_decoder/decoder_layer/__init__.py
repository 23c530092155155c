"""A decoder layer: self-attention, cross-attention and a feed-forward network."""

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

    With masks, source and target have the same length in all calls, so that swapping the masks does not raise an error.
    """
    rng = generator(seed)

    def call(batch: int, n: int, n_source: int, d_model: int, **masks: tuple[int, ...]) -> dict[str, Any]:
        drawn = {"x": normal(rng, batch, n, d_model), "memory": normal(rng, batch, n_source, d_model)}
        none = {"mask": None, "memory_mask": None}  # set explicitly, because later calls reuse omitted inputs
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
    verified=(
        "Each attention gets its own mask, for any two lengths, and each of the three sublayers has a residual "
        "connection and a norm after it."
    ),
    hints=[
        "Three sublayers all have the form norm(x + sublayer(x)). In which order do they come, and which norm does "
        "each use?",
        "The self-attention gets x three times, and `mask`. The queries of the cross-attention are x; its keys and "
        "values both come from the memory.",
        "The cross-attention is `self.cross_attention(x, memory, memory, memory_mask)`.",
        "`x = self.norm_1(x + self.self_attention(x, x, x, mask))`, followed by two more lines like this one.",
    ],
    messages={
        "inverted_mask": Wording(
            "{summary} before you pass it on. The self-attention uses the same convention: True means *may attend*.",
            summary="you invert `mask`",
            hints=[
                "What does True mean in the masks of this course, and what does it mean in the masks of "
                "`nn.MultiheadAttention`?"
            ],
        ),
        "inverted_memory_mask": Wording(
            "{summary} before you pass it on. The cross-attention uses the same convention: True means *may attend*.",
            summary="you invert `memory_mask`",
            hints=[
                "What does True mean in the masks of this course, and what does it mean in the masks of "
                "`nn.MultiheadAttention`?"
            ],
        ),
        "ignored_mask": (
            Wording(
                "{summary}, so each position attends to later tokens, including the token that it should predict. "
                "Which mask should you pass?",
                summary="you don't pass a mask to the self-attention",
                hints=["Which four arguments does multi-head attention take?"],
            )
        ),
        "ignored_memory_mask": (
            Wording(
                "{summary}, so the decoder also attends to padding in the source. Which mask should you pass?",
                summary="you don't pass a mask to the cross-attention",
                hints=["Which four arguments does multi-head attention take?"],
            )
        ),
        "left_out_self_sum: self_attended": Wording(
            "Your first residual connection is missing: you normalize the self-attention output without adding x to "
            "it. What should you pass to `norm_1`?",
            summary="your first residual connection is missing",
            hints=["If the self-attention returned only zeros, what should `norm_1` get?"],
        ),
        "left_out_cross_sum: cross_attended": Wording(
            "Your second residual connection is missing: you normalize the cross-attention output without adding the "
            "result of the first sublayer to it. What should you pass to `norm_2`?",
            summary="your second residual connection is missing",
            hints=["If the cross-attention returned only zeros, what should `norm_2` get?"],
        ),
        "left_out_network_sum: network_output": Wording(
            "Your third residual connection is missing: you normalize the feed-forward output without adding the "
            "network's input to it. What should you pass to `norm_3`?",
            summary="your third residual connection is missing",
            hints=["If the network returned only zeros, what should `norm_3` get?"],
        ),
        "wrong_input_cross_sum: x + cross_attended": Wording(
            "You add the cross-attention output to the layer's input, so your second residual connection leaves out "
            "the result of the self-attention. Which tensor do you pass to the cross-attention as its queries?",
            summary="you add the cross-attention output to the layer's input instead of the first sublayer's result",
            hints=["If the cross-attention returned only zeros, would the self-attention affect your output?"],
        ),
        "wrong_input_network_sum: x + network_output": Wording(
            "You add the feed-forward output to the layer's input, so your third residual connection leaves out the "
            "results of both attentions. Which tensor do you pass to the network?",
            summary="you add the feed-forward output to the layer's input instead of the network's input",
            hints=["If the network returned only zeros, would the attentions affect your output?"],
        ),
        "wrong_input_network_sum: self_normed + network_output": Wording(
            "You add the feed-forward output to the result of the first sublayer, so your third residual connection "
            "leaves out the result of the cross-attention. Which tensor do you pass to the network?",
            summary="you add the feed-forward output to the result of the first sublayer instead of the second",
            hints=["If the network returned only zeros, would the memory affect your output?"],
        ),
        "wrong_input_cross_sum: second_input + self_attended": Wording(
            "You add the self-attention output a second time, so the cross-attention output has no effect. Which two "
            "tensors should you add before `norm_2`?",
            summary="you add the self-attention output instead of the cross-attention output",
            hints=["Does your output change if the memory changes?"],
        ),
        "index_self_attended: attentions[1]": (
            Wording(
                "You call `cross_attention` in the first sublayer, so `self_attention` is never used or trained. Which "
                "attention should read only the target?",
                summary="you call `cross_attention` in the first sublayer",
                hints=["Which of the two attentions should get x three times?"],
            )
        ),
        "index_cross_attended: attentions[0]": (
            Wording(
                "You call `self_attention` in the second sublayer as well, so `cross_attention` is never used or "
                "trained. Which attention should read the memory?",
                summary="you call `self_attention` in the second sublayer",
                hints=["Which parameters of your layer get no gradient?"],
            )
        ),
    },
    mistakes=[*mistakes_sublayers.MISTAKES, *mistakes_norms.MISTAKES],
)
