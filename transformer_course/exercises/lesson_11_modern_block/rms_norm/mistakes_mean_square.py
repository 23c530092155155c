"""What goes wrong in the mean square: what is squared, and what the mean is taken over."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.rms_norm.answer import STEPS
from transformer_course.exercises.shared.norm_mistakes import axis_from_the_front

FIRST_CASE = "In the first case the squares are 4, 0, 0 and 16. What is their mean, and what comes out here?"

CENTRED = [
    Mistake(
        "unbiased_variance",
        STEPS.but(mean_square=lambda wide, axis: wide.var(dim=axis, keepdim=True)),
        STEPS.but(
            wide=lambda wide, axis: wide - wide.mean(dim=axis, keepdim=True),
            mean_square=lambda wide, axis: wide.var(dim=axis, keepdim=True),
        ),
        does="the variance is taken, with d − 1",
        says=(
            "The variance is taken, the one of `var` and `std`, which subtract the mean and divide by d − 1. RMSNorm "
            "takes the mean of the squares of x itself. Look at how the mean square is computed."
        ),
        hints=[FIRST_CASE],
    ),
]

AXES = [
    Mistake(
        "over_the_whole_sentence",
        STEPS.but(axis=lambda x: tuple(range(-min(x.dim(), 2), 0))),
        STEPS.but(axis=lambda: (-2, -1)).attempt,
        does="one mean is taken of the squares of all positions of a sentence together",
        says=(
            "{does}. Then each position depends on the others, and on the padding. Look at which axes are averaged "
            "over."
        ),
        hints=["Change the last vector of a sentence. May the output for the first one change?"],
    ),
    Mistake(
        "over_the_positions",
        STEPS.but(axis=lambda x: -min(x.dim(), 2)),
        STEPS.but(axis=lambda: -2),
        does="the mean runs over the positions, the axis before the last",
        says=(
            "The mean runs over the positions, so positions mix. It should be over the features of each position. Look "
            "at the axis."
        ),
        hints=["For x of shape (batch, n, d), which shape should the mean squares have?"],
    ),
    axis_from_the_front(STEPS),
]

MISTAKES = [*CENTRED, *AXES]
