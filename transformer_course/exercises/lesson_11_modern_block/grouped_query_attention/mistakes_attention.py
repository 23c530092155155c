"""Mistakes in scores, mask and weights: those of every attention, and those of a mask that may be None."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.grouped_query_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.dropout_mistakes import dropped
from transformer_course.steps import Step, Variant

MASKED = "`parts.masked_attention(q, k, v, mask)` where there is a mask."


def nothing_is_empty(visible):
    """Take every query for one that may see something."""
    return None if visible is None else torch.zeros_like(visible[..., :1])


def equal_weights(probabilities, empty):
    """Give all keys the same weight where a query may see nothing."""
    return probabilities if empty is None else probabilities.masked_fill(empty, 1 / probabilities.shape[-1])


def untreated(**changes: Step) -> Variant:
    """Return the answer that does nothing for a query that may see nothing, with other changes."""
    return STEPS.but(empty=nothing_is_empty, **changes)


def masks_unless(holds) -> Variant:
    """Return the answer that does not use the masks for which this holds."""
    return STEPS.but(mask=lambda mask: None if mask is None or holds(mask) else mask)


def causal(x):
    """Return the causal mask of a sequence."""
    return torch.ones(x.shape[1], x.shape[1], dtype=torch.bool).tril()


OF_EMPTY_ROWS = [
    Mistake(
        "nan_where_nothing_is_seen",
        untreated(),
        does="nothing is done for a query that may see nothing",
    ),
    Mistake(
        "minus_a_billion",
        STEPS.but(weights=equal_weights),
        untreated(fill=lambda: -1e9).attempt,
        untreated(scores=lambda scaled, visible: scaled if visible is None else scaled + ~visible * -1e9).attempt,
        does="a query that may see nothing gives all keys the same weight",
        says=(
            "Right wherever a query may see something. Where it may see nothing, as padding in front of a sentence, "
            "all keys get the same weight, as all its scores are equally low. The output should be zeros."
        ),
        hints=["What is the softmax of three equal numbers? Does it matter how low they are?"],
    ),
    Mistake(
        "empty_rows_keep_their_weights",
        STEPS.but(weights=lambda probabilities: probabilities),
        does="a query that may see nothing keeps the weights of its scores",
    ),
    Mistake(
        "nan_replaced_too_late",
        untreated(mixture=lambda mixture: mixture.nan_to_num()).attempt,
        untreated(merged=lambda merged: merged.nan_to_num()).attempt,
        untreated(output=lambda output: output.nan_to_num()).attempt,
        says=(
            "The output is right, and the gradient is nan: inside, the empty rows still were nan, and on the way back "
            "nothing takes that away. Look at what is replaced: the weights, or only the output."
        ),
        hints=[
            "Which gradients does x get? In training, one nan ruins the whole model.",
            "The *weights* have to be replaced, before they meet the values.",
            f"{MASKED} It takes care of such rows.",
        ],
    ),
]

OF_THE_MASK = [
    Mistake(
        "some_masks_ignored",
        masks_unless(lambda mask: mask.dim() == 2).attempt,
        masks_unless(lambda mask: mask.dim() == 4),
        masks_unless(lambda mask: mask.shape[-2] == 1).attempt,
        masks_unless(lambda mask: mask.shape[-2] > 1).attempt,
        does="masks of some shapes are not used",
        says="{does}: hidden keys get weight there. Look at the condition on the shape.",
        hints=["Which shapes have the masks of the cases, and which of them are used?"],
    ),
    Mistake(
        "always_causal",
        STEPS.but(mask=lambda mask, x: causal(x) if mask is None else mask & causal(x)),
        STEPS.but(mask=lambda mask, x: causal(x) if mask is None else mask).attempt,
        STEPS.but(mask=lambda x: causal(x)).attempt,
        does="a causal mask is made, whatever mask was given",
        says=(
            "A causal mask is made inside: no position sees those after it, though nobody asked for that. What may be "
            "seen is said by `mask`. Look for a triangle, or `is_causal`."
        ),
        hints=["Without a mask, which positions should the first one see?"],
    ),
    Mistake(
        "causal_where_there_is_a_mask",
        STEPS.but(mask=lambda mask, x: None if mask is None else causal(x)),
        does="a causal mask takes the place of the one that was given",
        says="Where there is a mask, a causal one takes its place. Look for a triangle, or `is_causal`.",
        hints=["Which positions does a padding mask hide, and which are hidden here?"],
    ),
    Mistake(
        "mask_taken_for_granted",
        STEPS.but(empty=lambda visible: ~visible.any(dim=-1, keepdim=True)),
        STEPS.but(hidden=lambda visible: ~visible, weights=lambda probabilities: probabilities).attempt,
        untreated(scores=lambda scaled, visible, fill: scaled.masked_fill(visible == 0, fill)).attempt,
        STEPS.but(scores=lambda scaled, mask, fill: scaled.masked_fill(mask.logical_not(), fill)).attempt,
        does="`mask` is used as a tensor, also where it is None",
        says=(
            "It crashes as soon as there is no mask: `mask` is then None, and None is no tensor. Look at what happens "
            "in that case."
        ),
        hints=["What is `mask` if nobody gives one?"],
    ),
    dropped(STEPS, "weights", name="weights_dropped"),
]


MISTAKES = [
    *OF_EMPTY_ROWS,
    *OF_THE_MASK,
    *attention_mistakes.of_the_heads(STEPS, "x", "n"),
    *attention_mistakes.of_a_mask_that_may_be_none(STEPS),
    *attention_mistakes.renamed(
        attention_mistakes.at_most(
            3,
            attention_mistakes.without(
                [
                    *attention_mistakes.unpaired(
                        attention_mistakes.of_the_scaling(STEPS), "no_scaling", "divides_by_d_k"
                    ),
                    *attention_mistakes.unpaired(
                        attention_mistakes.also_with_a_low_number(
                            attention_mistakes.of_the_mask(STEPS), "mask_inverted", "mask_transposed"
                        ),
                        "mask_inverted",
                        "filled_with_zero",
                        "mask_after_the_softmax",
                        "not_low_enough",
                    ),
                    *attention_mistakes.unpaired(
                        attention_mistakes.also_with_a_low_number(attention_mistakes.of_the_softmax(STEPS)),
                        "softmax_over_the_queries",
                    ),
                    *attention_mistakes.unpaired(attention_mistakes.of_the_transposition(STEPS)),
                    *attention_mistakes.unpaired(attention_mistakes.of_the_products(STEPS)),
                    *attention_mistakes.unpaired(attention_mistakes.of_the_mixture(STEPS)),
                ],
                "transposes_the_batch",
            ),
        ),
        queries="q",
        keys="k",
        values="v",
    ),
]
