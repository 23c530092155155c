"""What goes wrong in the mean square: what is squared, and what the mean is taken over."""

from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.rms_norm.answer import STEPS
from transformer_course.exercises.shared.norm_mistakes import axis_from_the_front

FIRST_CASE = "In the first case the squares are 4, 0, 0 and 16. What is their mean, and what comes out here?"

CENTRED = [
    Mistake(
        "mean_subtracted",
        STEPS.but(wide=lambda wide, axis: wide - wide.mean(dim=axis, keepdim=True)),
        STEPS.but(stretched=lambda x, weight, eps: F.layer_norm(x, x.shape[-1:], weight, None, eps)).attempt,
        does="the mean is subtracted from x",
        says="The mean is subtracted, as in LayerNorm. RMSNorm leaves it where it is. Look for a mean of x itself.",
        hints=["In the first case, what should become of a feature that is 0?"],
    ),
    Mistake(
        "only_the_squares_centred",
        STEPS.but(squares=lambda wide, axis: (wide - wide.mean(dim=axis, keepdim=True)).square()),
        STEPS.but(mean_square=lambda wide, axis: wide.var(dim=axis, keepdim=True, unbiased=False)),
        does="the squares are those of deviations from the mean",
        says=(
            "The mean of the squares is a variance: {does}. RMSNorm squares the features themselves. Look at what is "
            "squared."
        ),
        hints=[FIRST_CASE],
    ),
    Mistake(
        "only_x_centred",
        STEPS.but(normalised=lambda wide, root, axis: (wide - wide.mean(dim=axis, keepdim=True)) / root),
        does="the mean is subtracted from what is divided",
        says=(
            "The mean is subtracted from x before it is divided. RMSNorm leaves it where it is. Look at what is "
            "divided."
        ),
        hints=["In the first case, what should become of a feature that is 0?"],
    ),
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

SQUARES = [
    Mistake(
        "divided_by_one_less",
        STEPS.but(mean_square=lambda squares: squares.sum(dim=-1, keepdim=True) / (squares.shape[-1] - 1)),
        does="the sum of the squares is divided by d − 1",
    ),
    Mistake(
        "sum_of_squares",
        STEPS.but(mean_square=lambda squares, axis: squares.sum(dim=axis, keepdim=True)),
        does="the squares are added up and not averaged",
    ),
    Mistake(
        "divided_by_another_length",
        STEPS.but(mean_square=lambda squares: squares.sum(dim=-1, keepdim=True) / len(squares)),
        STEPS.but(
            mean_square=lambda squares: squares.sum(dim=-1, keepdim=True) / squares.shape[min(squares.dim() - 1, 1)]
        ).attempt,
        does="the sum of the squares is divided by the length of another axis than that of the features",
        says=(
            "The sum of the squares is divided by the length of another axis, as that of the first, which `len` "
            "returns. Right for a single vector only. Look at the number that is divided by."
        ),
        hints=["For x of shape (2, 3, 5), how many squares are added up for each vector?"],
    ),
    Mistake(
        "divided_by_the_root_of_d",
        STEPS.but(root=lambda root, x: root / x.shape[-1] ** 0.5),
        STEPS.but(mean_square=lambda mean_square, x: mean_square / x.shape[-1]),
        does="the root mean square is divided by d or its root once more",
        says=(
            "The root mean square is divided by d, or by the root of d, once more: the mean has divided by d already. "
            "Look for a second division."
        ),
        hints=[FIRST_CASE],
    ),
    Mistake(
        "not_squared",
        STEPS.but(squares=lambda wide: wide),
        does="the features are averaged without being squared",
        says="The features are averaged, but never squared, so positive and negative ones cancel. A step is missing.",
        hints=[FIRST_CASE],
    ),
    Mistake(
        "absolute_values",
        STEPS.but(squares=lambda wide: wide.abs()),
        STEPS.but(root=lambda wide, axis, eps: wide.abs().mean(dim=axis, keepdim=True) + eps),
        does="the absolute values are averaged, not the squares",
        says="The absolute values of the features are averaged, not their squares.",
        hints=[FIRST_CASE],
    ),
    Mistake(
        "square_of_the_mean",
        STEPS.but(mean_square=lambda wide, axis: wide.mean(dim=axis, keepdim=True).square()),
        does="the mean of the features is squared, not the features",
        says="The mean of the features is squared: first averaged, then squared. Look at the order of the two.",
        hints=[FIRST_CASE],
    ),
    Mistake(
        "largest",
        STEPS.but(mean_square=lambda squares: squares.amax(dim=-1, keepdim=True)),
        STEPS.but(root=lambda wide: wide.abs().amax(dim=-1, keepdim=True)),
        STEPS.but(root=lambda wide, eps: wide.abs().amax(dim=-1, keepdim=True) + eps),
        does="the largest feature counts alone, not the mean of the squares",
        says="Only the largest feature counts in what is divided by. It should be the root of the mean of all squares.",
        hints=[FIRST_CASE],
    ),
]

AXES = [
    Mistake(
        "over_everything",
        STEPS.but(axis=lambda x: tuple(range(x.dim()))),
        STEPS.but(mean_square=lambda squares: squares.mean()),
        does="one mean is taken of the squares of all vectors together",
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
        "over_the_batch",
        STEPS.but(axis=lambda: 0),
        STEPS.but(axis=lambda x: tuple(range(x.dim() - 1)) or 0),
        does="the mean runs over the first axis, that of the batch",
        says="{does}: what comes out for a sentence then depends on its neighbours. Look at the axis of the mean.",
        hints=["Which of these should not matter for a vector: its own features, or the other sentences?"],
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
        "axis_dropped",
        STEPS.but(mean_square=lambda squares, axis: squares.mean(dim=axis)),
        does="the mean squares lose the axis along which they were taken",
    ),
]

MISTAKES = [*CENTRED, *SQUARES, *AXES]
