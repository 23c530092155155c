"""What goes wrong in scaled dot-product attention: what goes wrong in every attention, and with the scaling."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.scaled_dot_product_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes

MISTAKES = [
    *attention_mistakes.of_the_scaling(STEPS),
    *attention_mistakes.of_the_width(STEPS),
    attention_mistakes.root_of_the_number("queries", STEPS.but(width=lambda queries: queries.shape[-2])),
    Mistake(
        "the_whole_shape",
        STEPS.but(width=lambda queries: queries.shape, divisor=lambda width: width**0.5).attempt,
        STEPS.but(width=lambda queries: queries.size, divisor=lambda width: width**0.5).attempt,
        says="The root is taken of something that is not a number: it crashes. Look at what stands for d_k.",
        hints=[
            "What are `queries.shape` and `queries.size`?",
            "The lengths of all axes are in it. Which one is d_k?",
            "`queries.shape[-1]`.",
        ],
    ),
    *attention_mistakes.of_the_softmax(STEPS),
    *attention_mistakes.of_the_transposition(STEPS),
    *attention_mistakes.of_the_products(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
]
