"""What goes wrong when parameters are listed, and numbers are made of their gradients."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_12_clinic.gradient_norms.answer import STEPS


def of_each_child(model):
    """Put all the parameters of a layer of the model together."""

    def total(child):
        return sum((p.grad**2).sum() for p in child.parameters() if p.grad is not None)

    return {name: float(total(child)) ** 0.5 for name, child in model.named_children()}


def as_it_is():
    return lambda value: value


def of_absolute_numbers(total):
    return STEPS.but(squares=lambda: lambda gradient: gradient.abs(), total=lambda: total, root=as_it_is)


def of_signed_numbers(total):
    return STEPS.but(squares=as_it_is, total=lambda: total, root=as_it_is)


MISTAKES = [
    Mistake(
        "those_without_a_gradient_left_out",
        STEPS.but(listed=lambda gradient: lambda name, parameter: gradient(parameter) is not None),
        does="parameters that no gradient has reached are left out",
        says=(
            "Parameters that no gradient has reached are missing, and they are what an examination looks for. Look at "
            "what becomes of a `grad` that is None."
        ),
        hints=["How many names are in the dict, and how many has the model?"],
    ),
    Mistake(
        "mean_of_the_absolute_numbers",
        of_absolute_numbers(lambda sizes: sizes.mean()),
        does="the mean of the absolute numbers is taken",
        says="{does}. The norm of a vector is its length.",
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
        "norms_of_the_parameters",
        STEPS.but(gradient=lambda: lambda parameter: parameter.detach()),
        STEPS.but(gradient=lambda: lambda parameter: None if parameter.grad is None else parameter.detach()),
        does="the norm is that of the parameter itself, not of its gradient",
        says="The norms are those of the parameters themselves. Look at which tensor the norm is taken of.",
    ),
    Mistake(
        "one_norm_for_each_module",
        of_each_child,
        says="The parameters of each module are put together. One norm for each *parameter* is asked for.",
        hints=[
            "How many names are in the dict, and how many has the model?",
            "A bias may learn where the weight beside it does not.",
            "`for name, parameter in model.named_parameters()`, and one entry for each.",
        ],
    ),
]
