"""What goes wrong when the variance of a score is worked out."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_02_scaling.score_variance.answer import STEPS

MISTAKES = [
    Mistake(
        "variance_of_one_factor",
        STEPS.but(of_a_product=lambda variance: variance),
        does="a product gets the variance of a single one of its factors",
        says="{does}. Look at a single product: both of its factors vary.",
    ),
    Mistake(
        "standard_deviation",
        STEPS.but(of_the_score=lambda total: total**0.5),
        does="the root is taken at the end, which makes a standard deviation",
        says="{does}. The variance is asked for.",
        hints=["If every q and k is doubled, the variance of q·k is multiplied by 16. Is what you return?"],
    ),
    Mistake(
        "caret",
        STEPS.but(of_a_product=lambda variance: variance ^ 2),
        does="`^` is written for a power",
        says="In Python `^` is no power: it compares the bits of two whole numbers, and crashes at a float.",
        hints=["How does Python write 3 to the power of 2?"],
    ),
]
