"""Mistakes in scores, mask and weights: those of every attention, and those of heads and of a mask that may be None."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.multi_head_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.dropout_mistakes import dropped

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
    dropped(STEPS, "weights", name="weights_dropped"),
]


MISTAKES = [
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
                    ),
                    *attention_mistakes.unpaired(
                        attention_mistakes.of_the_width(STEPS),
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
                    *attention_mistakes.unpaired(attention_mistakes.of_the_mixture(STEPS)),
                ],
                "only_the_best",  # d_v is d_k
                "root_of_the_second_length",  # n_heads
                "swaps_axes_from_the_front",
                "transposes_the_batch",
                "pairs_from_the_front",
                "one_table_at_a_time",
                "the_whole_shape",
            ),
        ),
        queries="q",
        keys="k",
        values="v",
    ),
]
