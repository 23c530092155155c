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
        "unbiased_variance",
        STEPS.but(variance=lambda squares, axis: squares.sum(axis, keepdim=True) / (_length(squares, axis) - 1)),
        does="the sum of squares is divided by one less than their number",
        says=(
            "The sum of squares is divided by d − 1, as statisticians do for a sample, and as `var` and `std` do "
            "unless told otherwise. Here the d features are all there is. Look at how the variance is computed."
        ),
        hints=["In the first case, the squares of the deviations are 1, 1, 1 and 9. Which variance comes out: 3 or 4?"],
    ),
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
        "sum_of_squares",
        STEPS.but(variance=lambda squares, axis: squares.sum(axis, keepdim=True)),
        does="the squared deviations are added up and not averaged",
    ),
    Mistake(
        "divided_by_another_length",
        STEPS.but(variance=lambda squares, x: squares.sum(dim=-1, keepdim=True) / len(x)),
        STEPS.but(mean=lambda x: x.sum(dim=-1, keepdim=True) / len(x)),
        does="a sum over the features is divided by the length of the first axis",
    ),
    Mistake(
        "squares_not_centred",
        STEPS.but(squares=lambda x: x.square()),
        does="the numbers in x are squared, not their deviations",
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
    Mistake(
        "square_of_the_mean_added",
        STEPS.but(variance=lambda x, axis, mean: x.square().mean(axis, keepdim=True) + mean**2),
        does="the square of the mean is added to the mean of the squares",
        says=(
            "{does}: the farther x is from 0, the larger that gets. A variance does not change when all numbers move. "
            "Look at the sign."
        ),
        hints=["Does the result change when 10 is added to all features?"],
    ),
    Mistake(
        "difference_of_squares_reversed",
        STEPS.but(variance=lambda x, axis, mean: mean**2 - x.square().mean(axis, keepdim=True)),
        does="the variance has the wrong sign",
    ),
    Mistake(
        "absolute_deviations",
        STEPS.but(squares=lambda deviations: deviations.abs()),
        STEPS.but(root=lambda deviations, axis, eps: deviations.abs().mean(axis, keepdim=True) + eps),
        STEPS.but(root=lambda deviations, axis: deviations.abs().mean(axis, keepdim=True)),
        does="the absolute deviations are averaged, not their squares",
        hints=["In the first case, the deviations are 3, −1, −1 and −1. What is the mean of their squares?"],
    ),
    Mistake(
        "deviations_not_squared",
        STEPS.but(squares=lambda deviations: deviations),
        does="the deviations are averaged without being squared",
        says="{does}: positive and negative ones cancel, and their mean is always 0. A step is missing.",
        hints=["In the first case, the deviations are 3, −1, −1 and −1. What is their mean?"],
    ),
    Mistake(
        "length_of_the_vector",
        STEPS.but(root=lambda x: x.norm(dim=-1, keepdim=True)),
        STEPS.but(root=lambda x, eps: x.norm(dim=-1, keepdim=True) + eps),
        STEPS.but(root=lambda deviations: deviations.norm(dim=-1, keepdim=True)),
        STEPS.but(root=lambda deviations, eps: deviations.norm(dim=-1, keepdim=True) + eps),
        does="the length of a vector is taken for its standard deviation",
        says=(
            "{does}. A length is the root of a *sum* of squares, a standard deviation that of their mean. Look at "
            "what is divided by."
        ),
        hints=["What is the variance of each vector of the result, before weight and bias? It should be near 1."],
    ),
    Mistake(
        "largest_or_range",
        STEPS.but(root=lambda deviations: deviations.abs().amax(dim=-1, keepdim=True)),
        STEPS.but(root=lambda x: x.amax(dim=-1, keepdim=True) - x.amin(dim=-1, keepdim=True)),
        STEPS.but(root=lambda x, eps: x.amax(dim=-1, keepdim=True) - x.amin(dim=-1, keepdim=True) + eps),
        does="the largest deviation, or the range of the numbers, is taken for the standard deviation",
        hints=["What is the variance of each vector of the result, before weight and bias? It should be near 1."],
    ),
]

EPS = [
    Mistake(
        "eps_beside_the_root",
        STEPS.but(
            with_eps=lambda variance: variance,
            root=lambda with_eps, eps: torch.sqrt(with_eps) + eps,
        ),
        does="`eps` is added to the root, not under it",
        says=(
            "eps is added to the standard deviation. It belongs to the variance, under the root. With a small eps "
            "nobody notices, until a vector is nearly constant. Look at where eps stands."
        ),
        hints=["In the first case the variance is 3 and eps is 1. What should be divided by?"],
    ),
    Mistake(
        "eps_twice",
        STEPS.but(root=lambda root, eps: root + eps),
        does="`eps` is added to the root",
        says="eps is added twice: under the root, and once more to the root. Look at where eps stands.",
        hints=["In the first case the variance is 3 and eps is 1. What should be divided by?"],
    ),
    Mistake(
        "no_eps",
        STEPS.but(with_eps=lambda variance: variance),
        does="`eps` has no effect",
    ),
    Mistake(
        "eps_above_the_fraction_bar",
        STEPS.but(
            with_eps=lambda variance: variance, normalised=lambda deviations, root, eps: (deviations + eps) / root
        ),
        does="`eps` is added to the deviations, not to the variance",
        says="eps is added to the deviations: it stands above the fraction bar. Look at where eps comes in.",
        hints=["What is the variance of (3, 3, 3, 3), and what is divided by?"],
    ),
    Mistake(
        "eps_subtracted",
        STEPS.but(with_eps=lambda variance, eps: variance - eps),
        does="`eps` is subtracted from the variance",
        says="eps is subtracted from the variance, so that it may get 0 or negative. Look at the sign.",
        hints=["In the first case the variance is 3 and eps is 1. What should be divided by?"],
    ),
    Mistake(
        "eps_as_a_minimum",
        STEPS.but(with_eps=lambda variance, eps: variance.clamp(min=eps)),
        STEPS.but(with_eps=lambda variance: variance, root=lambda with_eps, eps: torch.sqrt(with_eps).clamp(min=eps)),
        does="`eps` is taken as a minimum, not added",
        says=(
            "eps is taken as a minimum: it matters only where variance or deviation is smaller. The formula adds it. "
            "Look at where eps comes in."
        ),
        hints=["In the first case the variance is 3 and eps is 1. What should be divided by?"],
    ),
]

ROOT = [
    Mistake(
        "divides_by_the_variance",
        STEPS.but(root=lambda with_eps: with_eps),
        does="no root is taken of the variance",
    ),
    Mistake(
        "root_of_the_deviation",
        STEPS.but(variance=lambda squares, axis: squares.mean(axis, keepdim=True).sqrt()),
        STEPS.but(root=lambda root: torch.sqrt(root)),
        does="the root is taken twice",
        says="{does}. (`std` is the root of the variance already.) Look at what is under the root.",
        hints=["In the first case the variance is 3. What is the standard deviation, and what is divided by?"],
    ),
]


MISTAKES = [
    *VARIANCE,
    *EPS,
    *ROOT,
    *of_the_root(STEPS, "variance", 1, "deviations", "the deviations are"),
]
