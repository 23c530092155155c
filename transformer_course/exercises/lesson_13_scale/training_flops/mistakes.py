"""What goes wrong when the operations of a training are counted."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.training_flops.answer import STEPS
from transformer_course.steps import Variant


def operations(n: int) -> Variant:
    """Count n operations for each parameter and token, in whatever passes: a product of two slips may be right."""
    return STEPS.but(of_a_token=lambda n_parameters: n * n_parameters)


MISTAKES = [
    Mistake(
        "adds_parameters_and_tokens",
        STEPS.but(flops=lambda of_a_token, n_tokens: of_a_token + n_tokens),
        STEPS.but(
            flops=lambda of_a_token, n_parameters, n_tokens: of_a_token // n_parameters * (n_parameters + n_tokens)
        ),
        STEPS.but(flops=lambda n_parameters, n_tokens: 2 * n_parameters + 4 * n_tokens),
        does="parameters and tokens are added, not multiplied",
        says="Parameters and tokens are added. *Each* token passes through all parameters.",
        hints=["Twice as many tokens: how much more does the training cost?"],
    ),
    Mistake(
        "four_operations",
        operations(4),
        does="4 operations are counted for each parameter and token",
        says=(
            "{does}. Either the backward pass costs the same as the forward pass here, or the forward pass is left out."
        ),
        hints=["Which passes does a training step have, and which of them costs more?"],
    ),
    Mistake(
        "too_many_operations",
        *map(operations, (7, 8, 12, 18)),
        *(operations(n).attempt for n in (10, 24)),
        does="more operations are counted for each parameter and token than 2 forward and 4 backward",
        says=(
            "More than 6 operations are counted for each parameter and token: a pass, or a part of one, is "
            "counted again."
        ),
        hints=["With one parameter and one token, what comes out?"],
    ),
    Mistake(
        "overflows",
        STEPS.but(flops=lambda flops: (flops + 2**31) % 2**32 - 2**31),
        STEPS.but(flops=lambda flops: flops % 2**32).attempt,
        does="the number is kept in 32 bits, where large ones overflow",
        says="Large numbers come out wrong, even negative: 32 bits end at about 2 billion.",
        hints=["What is the largest int32?"],
    ),
    Mistake(
        "a_float",
        STEPS.but(flops=lambda flops: float(flops)),
        does="a float comes out, not an int",
        says="A float comes out. Operations are counted, so an int is asked for.",
        hints=["What does `type` say of the result?"],
    ),
]
