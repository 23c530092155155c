"""What goes wrong when the operations of training are counted."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.training_flops.answer import STEPS
from transformer_course.exercises.shared import count_mistakes

MISTAKES = [
    Mistake(
        "adds_parameters_and_tokens",
        STEPS.but(flops=lambda of_a_token, n_tokens: of_a_token + n_tokens),
        does="parameters and tokens are added, not multiplied",
        says="Parameters and tokens are added. *Each* token passes through all parameters.",
    ),
    Mistake(
        "four_operations",
        STEPS.but(of_a_token=lambda n_parameters: 4 * n_parameters),
        does="4 operations are counted for each parameter and token",
        says="{does}. Either both passes cost the same here, or the forward pass is left out.",
        hints=["Which passes does a training step have, and which of them costs more?"],
    ),
    Mistake(
        "too_many_operations",
        STEPS.but(of_a_token=lambda n_parameters: 8 * n_parameters),
        does="more operations are counted for each parameter and token than 2 forward and 4 backward",
    ),
    count_mistakes.a_float(STEPS.but(flops=lambda flops: float(flops)), "Operations"),
]
