"""What goes wrong when many queries are looked up at once: what goes wrong in every attention."""

from transformer_course.exercises.lesson_01_lookup.attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes

MISTAKES = [
    *attention_mistakes.of_the_softmax(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
    *attention_mistakes.of_the_products(STEPS),
    *attention_mistakes.of_the_transposition(STEPS),
    *attention_mistakes.of_scaling_too_early(STEPS),
]
