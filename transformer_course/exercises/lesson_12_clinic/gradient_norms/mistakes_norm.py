"""What goes wrong when a number is made of a gradient."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_12_clinic.gradient_norms.answer import STEPS


def as_it_is():
    return lambda value: value


def of_absolute_numbers(total):
    return STEPS.but(squares=lambda: lambda gradient: gradient.abs(), total=lambda: total, root=as_it_is)


def of_signed_numbers(total):
    return STEPS.but(squares=as_it_is, total=lambda: total, root=as_it_is)


def of_axis(total):
    return STEPS.but(total=lambda: total, number=as_it_is)


def divided_by(divisor):
    """Make the norm divided by something that a parameter and its gradient say."""

    def norm(gradient, missing, squares, total, root, number):
        def of(parameter):
            arrived = gradient(parameter)
            if arrived is None:
                return missing(parameter)
            return number(root(total(squares(arrived))) / divisor(parameter))

        return of

    return STEPS.but(norm=norm)


HOW_LONG = "How long is the vector (3, 4)?"

MISTAKES = [
    Mistake(
        "norms_of_the_parameters",
        STEPS.but(gradient=lambda: lambda parameter: parameter.detach()),
        STEPS.but(gradient=lambda: lambda parameter: None if parameter.grad is None else parameter.detach()),
        does="the norm is that of the parameter itself, not of its gradient",
        says="The norms are those of the parameters themselves. Look at which tensor the norm is taken of.",
        hints=["Does the norm change when the gradient does?"],
    ),
    Mistake(
        "no_root",
        STEPS.but(root=as_it_is),
        does="no root is taken at the end",
    ),
    Mistake(
        "sum_of_the_absolute_numbers",
        of_absolute_numbers(lambda sizes: sizes.sum()),
        does="the absolute numbers are added up",
    ),
    Mistake(
        "mean_of_the_absolute_numbers",
        of_absolute_numbers(lambda sizes: sizes.mean()),
        does="the mean of the absolute numbers is taken",
        says="{does}. The norm of a vector is its length.",
        hints=[HOW_LONG],
    ),
    Mistake(
        "largest_number",
        of_absolute_numbers(lambda sizes: sizes.max()),
        of_signed_numbers(lambda numbers: numbers.max()),
        does="the largest number of the gradient is taken",
        says="The largest number of a gradient is taken. Its norm depends on all of them.",
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
    Mistake(
        "mean_of_the_squares",
        STEPS.but(total=lambda: lambda squares: squares.mean()),
        does="the mean of the squares is taken, not their sum",
    ),
    Mistake(
        "spread_of_the_numbers",
        of_signed_numbers(lambda numbers: numbers.std()),
        of_signed_numbers(lambda numbers: numbers.std(correction=0)),
        does="the standard deviation is taken",
        says=(
            "The standard deviation of the numbers is taken: how far they lie from their mean. A gradient whose "
            "numbers are all alike would show as 0."
        ),
        hints=["What comes out for a gradient of 5, 5 and 5?"],
    ),
    Mistake(
        "a_norm_for_each_row",
        of_axis(lambda squares: squares.sum(dim=-1)),
        of_axis(lambda squares: squares.sum(dim=0)),
        does="there is a norm for each row or column of a gradient",
        says="{does}. One number for all of it is asked for.",
        hints=["How many numbers come out for a matrix?"],
    ),
    Mistake(
        "divided_by_the_parameter",
        divided_by(lambda parameter: parameter.detach().norm()),
        does="the norm is divided by that of the parameter",
        says=(
            "The norm of a gradient is divided by that of its parameter. That is worth a look as well; here the norm "
            "alone is asked for."
        ),
        hints=["Does the result change when the parameter does, and its gradient stays?"],
    ),
    Mistake(
        "divided_by_how_many_there_are",
        divided_by(lambda parameter: parameter.numel()),
        does="the norm is divided by the number of numbers",
        says="The norm is divided by how many numbers the gradient has. Look at what is done after the root.",
        hints=[HOW_LONG],
    ),
    Mistake(
        "rounded",
        STEPS.but(number=lambda: lambda norm: round(norm.item(), 2)),
        STEPS.but(number=lambda: lambda norm: round(norm.item(), 3)),
        STEPS.but(number=lambda: lambda norm: round(norm.item(), 4)),
        does="the norms are rounded",
        says=(
            "{does}. A gradient that has nearly vanished is a finding, and becomes 0. To round is for the one who "
            "prints."
        ),
        hints=["What becomes of a norm of 0.00001?"],
    ),
]
