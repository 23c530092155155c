"""Mistakes in scores, mask and weights: those of every attention, and those of heads and of a mask that may be None."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.multi_head_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.dropout_mistakes import dropped

MISTAKES = [
    Mistake(
        "mask_taken_for_granted",
        STEPS.but(hidden=lambda visible: ~visible).attempt,
        STEPS.but(scores=lambda scaled, visible, fill: scaled.masked_fill(visible == 0, fill)).attempt,
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
    *attention_mistakes.of_the_heads(STEPS, "query", "n_query"),
    *attention_mistakes.of_a_mask_that_may_be_none(STEPS),
    *attention_mistakes.of_the_scaling(STEPS),
    *attention_mistakes.also_with_a_low_number(
        [*attention_mistakes.of_the_mask(STEPS), *attention_mistakes.of_the_softmax(STEPS)],
        "mask_inverted",
        "mask_transposed",
    ),
    *attention_mistakes.without(attention_mistakes.of_the_transposition(STEPS), "transposes_the_batch"),
    *attention_mistakes.of_the_products(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
]
