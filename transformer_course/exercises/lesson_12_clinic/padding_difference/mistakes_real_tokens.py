"""What goes wrong when only the logits at real tokens should be compared."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_12_clinic.padding_difference.answer import STEPS

MISTAKES = [
    Mistake(
        "only_the_last_position",
        STEPS.but(differences=lambda all_differences: all_differences[:, -1]),
        STEPS.but(differences=lambda all_differences, real: all_differences[:, -1][real[:, -1]]),
        does="only the last position is compared",
        says="{does}. A fault may show at any other, and in some texts this is padding.",
        hints=["Take a text with padding at its end. What is compared?"],
    ),
]
