"""What goes wrong in scaled dot-product attention: what goes wrong in every attention, and with the scaling."""

from transformer_course.exercises.lesson_02_scaling.scaled_dot_product_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes

MISTAKES = [
    *attention_mistakes.of_the_scaling(STEPS),
    *attention_mistakes.of_the_width(STEPS),
    *attention_mistakes.of_the_softmax(STEPS),
    *attention_mistakes.of_the_transposition(STEPS),
    *attention_mistakes.of_the_products(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
]
