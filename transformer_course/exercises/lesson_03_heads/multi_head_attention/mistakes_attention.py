"""Mistakes in scores, mask and weights: those of every attention, and those of heads and of a mask that may be None."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.multi_head_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.final_result_mistakes import dropped


def as_an_index(scaled, visible, fill):
    """Fill by indexing with the mask."""
    if visible is None:
        return scaled
    scores = scaled.clone()
    scores[~visible] = fill
    return scores


OF_THE_WIDTH = [
    Mistake(
        "scaled_by_the_number_of_heads",
        STEPS.but(width=lambda self: self.n_heads),
        does="the number of heads is taken for d_k",
    ),
]

OF_THE_KEYS = [
    Mistake(
        "wrong_axes_of_the_keys",
        STEPS.but(turned=lambda keys: keys.transpose(1, 2)).attempt,
        STEPS.but(turned=lambda keys: keys.permute(3, 2, 1, 0)).attempt,
        STEPS.but(turned=lambda keys: keys.transpose(0, 1)).attempt,
        STEPS.but(turned=lambda keys: keys.transpose(1, 3)).attempt,
        says=(
            "The wrong axes of the keys are swapped for the scores: the heads, or even the batch, do not stay where "
            "they are. Look at how the keys are transposed."
        ),
        hints=[
            "After the split, k has the shape (batch, n_heads, n_key, d_k). Which two axes are to change places?",
            "What is in front of the last two axes should not move.",
            "`k.mT`, or `k.transpose(-2, -1)`.",
        ],
    ),
]

OF_THE_MASK = [
    Mistake(
        "mask_taken_for_granted",
        STEPS.but(hidden=lambda visible: ~visible).attempt,
        STEPS.but(hidden=lambda visible: visible.logical_not()).attempt,
        STEPS.but(hidden=lambda visible: ~(visible | ~visible.any(dim=-1, keepdim=True))).attempt,
        STEPS.but(scores=lambda scaled, visible, fill: scaled.masked_fill(visible == 0, fill)).attempt,
        STEPS.but(scores=lambda scaled, visible, fill: scaled.where(visible, fill)).attempt,
        says=(
            "It crashes as soon as there is no mask: `mask` is then None, and None is no tensor. Look at what "
            "happens to the scores in that case."
        ),
        hints=[
            "What is `mask` if nobody gives one?",
            "Without a mask, the scores stay as they are.",
            "`if mask is not None:` before the filling.",
        ],
    ),
    Mistake(
        "mask_as_an_index",
        STEPS.but(scores=as_an_index).attempt,
        says=(
            "Indexing with the mask needs one of just the shape of the scores. It crashes as soon as the mask has to "
            "be broadcast. Look for a function that broadcasts."
        ),
        hints=[
            "What shapes do the scores and the mask have in the case that crashes?",
            "`x[mask] = …` does not broadcast the mask. `masked_fill` does.",
            "`scores = scores.masked_fill(~mask, -torch.inf)`.",
        ],
    ),
    Mistake(
        "weights_of_one_head",
        STEPS.but(weights=lambda weights: weights[:, :1].expand_as(weights)).attempt,
        STEPS.but(weights=lambda weights: weights.mean(dim=1, keepdim=True).expand_as(weights)).attempt,
        says=(
            "All heads use the same weights: those of one head, or their mean. Each head should attend by its own. "
            "Look at what happens to the axis of the heads."
        ),
        hints=[
            "How many tables of weights should there be for each sentence?",
            "The weights have the shape (batch, n_heads, n_query, n_key). Is the second axis indexed or averaged?",
            "Leave the axis of the heads alone, from the split to the merging.",
        ],
    ),
    dropped(STEPS, "weights", name="weights_dropped"),
]


MISTAKES = [
    *OF_THE_WIDTH,
    *OF_THE_KEYS,
    *OF_THE_MASK,
    *attention_mistakes.of_the_heads(STEPS, "query", "n_query"),
    *attention_mistakes.of_a_mask_that_may_be_none(STEPS),
    *attention_mistakes.renamed(
        attention_mistakes.at_most(
            3,
            attention_mistakes.without(
                [
                    *attention_mistakes.unpaired(
                        attention_mistakes.of_the_scaling(STEPS),
                        "no_scaling",
                        "divides_by_d_k",
                        "multiplies_by_the_root",
                        "half_of_d_k",
                    ),
                    *attention_mistakes.unpaired(
                        attention_mistakes.of_the_width(STEPS),
                        "root_of_the_number_of_keys",
                        "root_of_the_number_of_queries",
                        "a_fixed_width",
                    ),
                    *attention_mistakes.unpaired(
                        attention_mistakes.also_with_a_low_number(
                            attention_mistakes.of_the_mask(STEPS), "mask_inverted", "mask_transposed"
                        ),
                        "mask_inverted",
                        "mask_transposed",
                        "mask_ignored",
                        "filled_with_zero",
                        "mask_added",
                        "mask_after_the_softmax",
                        "not_low_enough",
                    ),
                    *attention_mistakes.unpaired(
                        attention_mistakes.also_with_a_low_number(attention_mistakes.of_the_softmax(STEPS)),
                        "softmax_over_the_queries",
                        "softmax_twice",
                        "smallest_first",
                        "sigmoid",
                        "axis_from_the_front",
                        "scores_instead_of_weights",
                        "overflows",
                        "never_divided",
                    ),
                    *attention_mistakes.unpaired(attention_mistakes.of_the_transposition(STEPS)),
                    *attention_mistakes.unpaired(attention_mistakes.of_the_products(STEPS)),
                    *attention_mistakes.unpaired(attention_mistakes.of_the_batch(STEPS)),
                    *attention_mistakes.unpaired(
                        attention_mistakes.of_the_mixture(STEPS), "mixes_the_keys", "averaged_over_the_keys"
                    ),
                ],
                *attention_mistakes.RARE,
                "a_fixed_factor",
                "averages_the_products",
                "root_of_d_v",  # d_v is d_k
                "root_of_the_second_length",  # n_heads
                "swaps_axes_from_the_front",
                "transposes_the_batch",
                "pairs_from_the_front",
                "one_table_at_a_time",
                "weights_as_well",
                "queries_added",
                "the_whole_shape",
            ),
        ),
        queries="q",
        keys="k",
        values="v",
    ),
]
