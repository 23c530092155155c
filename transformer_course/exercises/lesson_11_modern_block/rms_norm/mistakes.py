"""What goes wrong in the mean square, in the root and the division, and with the dtype and the weight."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.rms_norm.answer import STEPS
from transformer_course.exercises.shared.norm_mistakes import axis_from_the_front, eps_fixed, weighted_first

FIRST_CASE = "In the first case the squares are 4, 0, 0 and 16. What is their mean, and what comes out here?"

MISTAKES = [
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
    Mistake(
        "root_without_a_gradient",
        STEPS.but(root=lambda root: root.detach()),
        STEPS.but(wide=lambda wide: wide.detach()).attempt,
        does="the root is taken for a fixed number on the way back",
        says=(
            "The numbers are right, and the gradient at x is not: what x is divided by is taken for a fixed number on "
            "the way back. It is made of x, and changes with it. Look for `no_grad`, `detach` or `.data`."
        ),
        hints=["If x gets 10 times as large, the output should stay as it is. Is the gradient along x 0?"],
    ),
    Mistake(
        "divides_in_place",
        STEPS.but(normalised=lambda wide, root: wide.div_(root)).attempt,
        STEPS.but(normalised=lambda wide, root: wide.div_(root.detach())).attempt,
        STEPS.but(squares=lambda wide: wide.clone().square(), normalised=lambda wide, root: wide.div_(root)).attempt,
        says=(
            "x is divided in place. `.float()` makes no copy of what is in float32 already, so this writes into x "
            "itself, and the caller may still need it. Look at what `/=` does to a tensor."
        ),
        hints=[
            "Which line writes into x itself?",
            "`y /= 2` changes the tensor; `y = y / 2` makes a new one.",
            "Give the normalised vectors a name of their own.",
        ],
    ),
    eps_fixed(STEPS, 4),
    weighted_first(
        STEPS.but(wide=lambda wide, weight: wide * weight.float(), stretched=lambda narrow: narrow),
        STEPS.but(x=lambda x, weight: x * weight, stretched=lambda narrow: narrow).attempt,
    ),
]
