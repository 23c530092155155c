"""What goes wrong in scaled dot-product attention, besides what goes wrong in every attention."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.scaled_dot_product_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes

MISTAKES = [
    *attention_mistakes.unpaired(
        attention_mistakes.of_the_scaling(STEPS),
        "no_scaling",
        "divides_by_d_k",
        "power_without_brackets",
    ),
    *attention_mistakes.of_the_width(STEPS),
    Mistake(
        "a_width_from_nowhere",
        STEPS.but(width=lambda: d_k).attempt,  # type: ignore[name-defined]  # noqa: F821
        says=(
            "`d_k` is not the name of anything: the function is given queries, keys and values, and the width has to "
            "be found in them."
        ),
        hints=[
            "Which argument knows how wide the vectors are?",
            "`queries.shape` holds all its lengths. At which end stands the width?",
            "First line of the function: `d_k = queries.shape[-1]`.",
        ],
    ),
    Mistake(
        "scales_twice",
        STEPS.but(
            queries=lambda queries: queries / queries.shape[-1] ** 0.5,
            scores=lambda scores: scores,
            values=lambda values, width: values / width**0.5,
        ),
        does="the scores are divided by d_k, and the values or the output by √d_k",
        says=(
            "{does}: that is what comes of dividing queries, keys and values by √d_k each. A score is a product of two "
            "of these, and what is averaged should not be touched at all."
        ),
        hints=["By what is q·k divided if q and k are each divided by √d_k?"],
    ),
    *attention_mistakes.of_values_scaled_too(STEPS),
    *attention_mistakes.unpaired(attention_mistakes.of_the_softmax(STEPS), *attention_mistakes.COMMON),
    *attention_mistakes.unpaired(attention_mistakes.of_the_transposition(STEPS), *attention_mistakes.COMMON),
    *attention_mistakes.unpaired(attention_mistakes.of_the_products(STEPS), *attention_mistakes.COMMON),
    *attention_mistakes.unpaired(attention_mistakes.of_the_mixture(STEPS), *attention_mistakes.COMMON),
]
