"""What goes wrong when a number is made of a gradient."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_12_clinic.gradient_norms.answer import STEPS


def as_it_is():
    return lambda value: value


def of_absolute_numbers(total):
    return STEPS.but(squares=lambda: lambda gradient: gradient.abs(), total=lambda: total, root=as_it_is)


def of_signed_numbers(total):
    return STEPS.but(squares=as_it_is, total=lambda: total, root=as_it_is)


HOW_LONG = "How long is the vector (3, 4)?"

MISTAKES = [
    Mistake(
        "mean_of_the_absolute_numbers",
        of_absolute_numbers(lambda sizes: sizes.mean()),
        does="the mean of the absolute numbers is taken",
        says="{does}. The norm of a vector is its length.",
        hints=[HOW_LONG],
    ),
    Mistake(
        "numbers_that_cancel",
        of_signed_numbers(lambda numbers: numbers.sum()),
        of_signed_numbers(lambda numbers: numbers.mean()),
        does="the numbers are added up with their signs",
        says=(
            "The numbers of a gradient are added up with their signs, so that they cancel: a large gradient may show "
            "as 0. Look at what is done before the sum."
        ),
        hints=["What comes out for a gradient of 3 and −3?"],
    ),
]
