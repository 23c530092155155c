"""What goes wrong when vectors are normalised: in the axes, in the variance, and with the weight."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.layer_norm.answer import STEPS
from transformer_course.exercises.shared.norm_mistakes import axis_from_the_front, eps_fixed, weighted_first

MISTAKES = [
    Mistake(
        "over_the_whole_sentence",
        STEPS.but(axis=lambda x: tuple(range(-min(x.dim(), 2), 0))),
        STEPS.but(axis=lambda: (-2, -1)),
        does="mean and variance are taken of all positions of a sentence together",
        says="{does}. Then each position depends on all others, and on the padding.",
        hints=["Change the last vector of a sentence. May the output for the first one change?"],
    ),
    Mistake(
        "over_the_positions",
        STEPS.but(axis=lambda x: -min(x.dim(), 2)),
        STEPS.but(axis=lambda: -2),
        does="mean and variance are taken over the positions, the axis before the last",
        says="{does}, so positions mix. It should be each position over its features.",
        hints=["For x of shape (batch, n, d), which shape should the means have?"],
    ),
    axis_from_the_front(STEPS),
    Mistake(
        "axis_dropped",
        STEPS.but(
            mean=lambda x, axis: x.mean(dim=axis),
            variance=lambda x, axis: x.var(dim=axis, unbiased=False),
        ),
        does="mean and variance lose the axis along which they were taken",
        says=(
            "Right for a single vector. For several, mean and variance have lost their last axis, so they do not line "
            "up with the vectors: a crash, or, where n and d are equal, nonsense."
        ),
        hints=["x has the shape (2, 3, 5). Which shape has `x.mean(dim=-1)`?"],
    ),
    Mistake(
        "no_brackets",
        STEPS.but(stretched=lambda x, mean, root, weight: weight * x - mean / root),
        STEPS.but(normalised=lambda x, mean, root: x - mean / root),
        does="only the mean is divided, and not the difference of x and the mean",
        says="{does}: division binds more tightly than subtraction. Look at the brackets.",
        hints=["What is 8 - 6 / 2 in Python?"],
    ),
    Mistake(
        "loses_digits",
        STEPS.but(variance=lambda x, axis, mean: x.square().mean(axis, keepdim=True) - mean**2),
        does="the variance is the difference of two large numbers, which loses digits where x is far from 0",
        says=(
            "Right near 0; where x is far from 0, the variance comes out wrong. The mean of the squares less the "
            "square of the mean is right on paper, but these are two large numbers, nearly equal, and of their "
            "difference a float32 keeps only a few digits."
        ),
        hints=["What is the variance of (1000, 1001), and what is 1000² as a float32? How many digits does that have?"],
    ),
    eps_fixed(STEPS, 1),
    weighted_first(STEPS.but(x=lambda x, weight: weight * x, stretched=lambda normalised: normalised), bias=True),
]
