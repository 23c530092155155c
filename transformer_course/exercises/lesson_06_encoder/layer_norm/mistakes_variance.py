"""What goes wrong in what vectors are divided by."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.layer_norm.answer import STEPS
from transformer_course.exercises.shared.norm_mistakes import of_the_root

MISTAKES = [
    Mistake(
        "loses_digits",
        STEPS.but(variance=lambda x, axis, mean: x.square().mean(axis, keepdim=True) - mean**2),
        does="the variance is the difference of two large numbers, which loses digits where x is far from 0",
        says=(
            "Right near 0; where x is far from 0, the variance comes out wrong. The mean of the squares less the "
            "square of the mean is right on paper, but these are two large numbers, nearly equal, and of their "
            "difference a float32 keeps only a few digits."
        ),
        hints=["What is the variance of (1000, 1001), and what is 1000² as a float32? How many digits does that have?"],
    ),
    *of_the_root(STEPS, "variance", 1, "deviations", "the deviations are"),
]
