"""What goes wrong when the norms of gradients are listed."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_12_clinic.gradient_norms.answer import STEPS

MISTAKES = [
    Mistake(
        "norms_of_the_parameters",
        [STEPS.but(arrived=lambda: lambda parameter: parameter.detach())],
        does="the norm is that of the parameter itself, not of its gradient",
        says="The norms are those of the parameters themselves. Look at which tensor the norm is taken of.",
        hints=[
            "Does the norm change when the gradient does?",
            "A parameter is a tensor of numbers, and has another tensor of that shape beside it.",
            "`parameter.grad.norm()`.",
        ],
    ),
    Mistake(
        "those_without_a_gradient_left_out",
        [
            STEPS.but(listed=lambda gradient: lambda parameter: gradient(parameter) is not None),
        ],
        does="parameters that no gradient has reached are left out",
        says=(
            "Parameters that no gradient has reached are missing, and they are what an examination looks for. Look at "
            "what becomes of a `grad` that is None."
        ),
        hints=[
            "How many names are in the dict, and how many has the model?",
            "A parameter that learns nothing should stand out in the list.",
            "Its norm is 0.0 where `parameter.grad is None`.",
        ],
    ),
    Mistake(
        "no_root",
        [STEPS.but(root=lambda: lambda total: total)],
        does="no root is taken of the sum",
        says="The squares are added up, and no root is taken. Look at what becomes of the sum.",
        hints=[
            "How long is the vector (3, 4)?",
            "What should happen to the norm if the gradient is doubled?",
            "`.sum().sqrt()`, or `.norm()`, which does all of it.",
        ],
    ),
    Mistake(
        "sum_of_the_absolute_numbers",
        [
            STEPS.but(squares=lambda: lambda gradient: gradient.abs(), root=lambda: lambda total: total),
        ],
        does="the absolute numbers are added up",
        says="The absolute numbers are added up. The norm of a vector is its length.",
        hints=[
            "How long is the vector (3, 4)?",
            "The norm squares the numbers, adds them up, and takes the root.",
            "`.norm()`, without another `p`.",
        ],
    ),
    Mistake(
        "mean_of_the_squares",
        [STEPS.but(total=lambda: lambda squares: squares.mean())],
        does="the mean of the squares is taken, not their sum",
        says="The *mean* of the squares is taken. The norm is the root of their sum.",
        hints=[
            "How long is the vector (3, 4)?",
            "What should happen to the norm if the vector gets a further number?",
            "`.sum()` in place of `.mean()`, or `.norm()`.",
        ],
    ),
    Mistake(
        "crashes_without_a_gradient",
        [STEPS.but(of_none=lambda: lambda parameter: None)],
        does="a gradient that is None is asked for its norm",
        says="It crashes where no gradient has arrived: `grad` is None there. Look at what is called of it.",
        hints=[
            "What is the `grad` of a parameter that the loss does not depend on?",
            "None has no norm.",
            "Its norm is 0.0 where `parameter.grad is None`.",
        ],
    ),
]
