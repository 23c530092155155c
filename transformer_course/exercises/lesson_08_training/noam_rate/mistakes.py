"""What goes wrong with the learning rate of the paper."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.noam_rate.answer import STEPS

MISTAKES = [
    Mistake(
        "adds_the_two_rates",
        STEPS.but(lower=lambda falling, rising: falling + rising),
        does="the two rates are added",
        says="{does}. Only one of them should count at a time.",
        hints=["What should the rate be long after the warm-up? Does the straight line still have a say?"],
    ),
    Mistake(
        "the_line_alone_has_the_width",
        STEPS.but(rate=lambda width_factor, falling, rising: min(falling, width_factor * rising)),
        does="the factor of the width multiplies only the straight line",
        says="After the warm-up the width of the model makes no difference: brackets are missing, or in another place.",
    ),
]
