"""What goes wrong in what happens to the normalised vectors: with the weight and the bias."""

from transformer_course.exercises.lesson_06_encoder.layer_norm.answer import STEPS
from transformer_course.exercises.shared.norm_mistakes import of_the_weight

MISTAKES = [
    *of_the_weight(
        STEPS,
        "normalised",
        STEPS.but(x=lambda x, weight: weight * x, stretched=lambda normalised: normalised),
        elsewhere=(
            "Some models keep a weight's distance from 1 and add it back so; here the weight is the factor itself."
        ),
        bias=True,
    ),
]
