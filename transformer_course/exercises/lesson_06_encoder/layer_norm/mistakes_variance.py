"""What goes wrong in what vectors are divided by."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.layer_norm.answer import STEPS
from transformer_course.exercises.shared.norm_mistakes import of_the_root


def _length(numbers, axis):
    """Return the number of summands along an axis or several."""
    axes = axis if isinstance(axis, tuple) else (axis,)
    return math.prod(numbers.shape[one] for one in axes)


VARIANCE = [
    Mistake(
        "unbiased_deviation_and_eps",
        STEPS.but(
            variance=lambda squares, axis: squares.sum(axis, keepdim=True) / (_length(squares, axis) - 1),
            with_eps=lambda variance: variance,
            root=lambda with_eps, eps: torch.sqrt(with_eps) + eps,
        ),
        does="the standard deviation is that of d − 1, and eps is added to it",
        says=(
            "Two things at once, as in a widely read tutorial: `std` divides by d − 1, and eps is added to the "
            "deviation instead of the variance."
        ),
        hints=["In the first case the variance is 3, and eps is 1. What should be divided by?"],
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
]


MISTAKES = [
    *VARIANCE,
    *of_the_root(STEPS, "variance", 1, "deviations", "the deviations are"),
]
