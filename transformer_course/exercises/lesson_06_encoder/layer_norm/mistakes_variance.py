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
        hints=[
            "In the first case, the squares of the deviations are 1, 1, 1 and 9. Which variance comes out: 3 or 4?",
            "It should be their mean: 12 / 4.",
            "`x.var(dim=-1, keepdim=True, unbiased=False)`, or the mean of the squared deviations.",
        ],
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
        hints=[
            "In the first case the variance is 3, and eps is 1. What should be divided by?",
            "First compute the variance, the mean of the squared deviations; then add eps; then take the root.",
            "`torch.sqrt(x.var(dim=-1, keepdim=True, unbiased=False) + eps)`.",
        ],
    ),
    Mistake(
        "sum_of_squares",
        STEPS.but(variance=lambda squares, axis: squares.sum(axis, keepdim=True)),
        does="the squared deviations are added up and not averaged",
        says="{does}, so vectors of many features come out small. Look at how the variance is computed.",
        hints=[
            "In the first case, the squares of the deviations are 1, 1, 1 and 9. Which variance comes out: 3 or 12?",
            "The variance is the *mean* of the squared deviations.",
            "`(x - mean).square().mean(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "divided_by_another_length",
        STEPS.but(variance=lambda squares, x: squares.sum(dim=-1, keepdim=True) / len(x)),
        STEPS.but(mean=lambda x: x.sum(dim=-1, keepdim=True) / len(x)),
        does="a sum over the features is divided by the length of the first axis",
        says=(
            "{does}, which `len` returns. Right for a single vector, and wrong where others stand in front. Look at "
            "how mean and variance are computed."
        ),
        hints=[
            "For x of shape (2, 3, 5), how many numbers are added up for each mean, and what is `len(x)`?",
            "The number of features is `x.shape[-1]`.",
            "`x.mean(dim=-1, keepdim=True)` divides by the right number by itself.",
        ],
    ),
    Mistake(
        "squares_not_centred",
        STEPS.but(squares=lambda x: x.square()),
        does="the numbers in x are squared, not their deviations",
        says=(
            "The variance is made of the squares of x itself. It is the mean of the squared *deviations* from the "
            "mean. Look at what is squared."
        ),
        hints=[
            "What is the variance of (3, 3, 3, 3), and what comes out here?",
            "Adding 100 to all features of a vector should not change its variance.",
            "`(x - mean).square().mean(dim=-1, keepdim=True)`.",
        ],
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
        hints=[
            "What is the variance of (1000, 1001), and what is 1000² as a float32? How many digits does that have?",
            "Deviations from the mean are small numbers, and keep their digits.",
            "Subtract the mean first, then square: `(x - mean).square().mean(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "square_of_the_mean_added",
        STEPS.but(variance=lambda x, axis, mean: x.square().mean(axis, keepdim=True) + mean**2),
        does="the square of the mean is added to the mean of the squares",
        says=(
            "{does}: the farther x is from 0, the larger that gets. A variance does not change when all numbers move. "
            "Look at the sign."
        ),
        hints=[
            "Does the result change when 10 is added to all features?",
            "The variance is the mean of the squares *minus* the square of the mean, but that loses digits.",
            "The mean of the squared deviations: `(x - mean).square().mean(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "difference_of_squares_reversed",
        STEPS.but(variance=lambda x, axis, mean: mean**2 - x.square().mean(axis, keepdim=True)),
        does="the variance has the wrong sign",
        says="{does}: the mean of the squares is subtracted from the square of the mean.",
        hints=[
            "Can a mean of squares be negative?",
            "In the first case the variance should be 3.",
            "Use the mean of the squared deviations: `(x - mean).square().mean(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "absolute_deviations",
        STEPS.but(squares=lambda deviations: deviations.abs()),
        STEPS.but(root=lambda deviations, axis, eps: deviations.abs().mean(axis, keepdim=True) + eps),
        STEPS.but(root=lambda deviations, axis: deviations.abs().mean(axis, keepdim=True)),
        does="the absolute deviations are averaged, not their squares",
        says="{does}. Look at how the variance is computed.",
        hints=[
            "In the first case, the deviations are 3, −1, −1 and −1. What is the mean of their squares?",
            "9 + 1 + 1 + 1 is 12, and divided by 4 it is 3.",
            "`(x - mean).square().mean(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "deviations_not_squared",
        STEPS.but(squares=lambda deviations: deviations),
        does="the deviations are averaged without being squared",
        says="{does}: positive and negative ones cancel, and their mean is always 0. A step is missing.",
        hints=[
            "In the first case, the deviations are 3, −1, −1 and −1. What is their mean?",
            "What has to be done to them so that they do not cancel?",
            "`(x - mean).square().mean(dim=-1, keepdim=True)`.",
        ],
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
        hints=[
            "What is the variance of each vector of the result, before weight and bias? It should be near 1.",
            "In the first case, the squared deviations are 9, 1, 1 and 1; their mean is 3.",
            "`torch.sqrt(variance + eps)`, where the variance is the mean of the squared deviations.",
        ],
    ),
    Mistake(
        "largest_or_range",
        STEPS.but(root=lambda deviations: deviations.abs().amax(dim=-1, keepdim=True)),
        STEPS.but(root=lambda x: x.amax(dim=-1, keepdim=True) - x.amin(dim=-1, keepdim=True)),
        STEPS.but(root=lambda x, eps: x.amax(dim=-1, keepdim=True) - x.amin(dim=-1, keepdim=True) + eps),
        does="the largest deviation, or the range of the numbers, is taken for the standard deviation",
        says="{does}. Look at what is divided by.",
        hints=[
            "What is the variance of each vector of the result, before weight and bias? It should be near 1.",
            "All deviations count for the variance, not only the largest.",
            "`torch.sqrt(variance + eps)`, where the variance is the mean of the squared deviations.",
        ],
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
        hints=[
            "In the first case the variance is 3 and eps is 1. What should be divided by?",
            "By 2, the root of 3 + 1; not by 1 + √3.",
        ],
    ),
    Mistake(
        "eps_twice",
        STEPS.but(root=lambda root, eps: root + eps),
        does="`eps` is added to the root",
        says="eps is added twice: under the root, and once more to the root. Look at where eps stands.",
        hints=[
            "In the first case the variance is 3 and eps is 1. What should be divided by?",
            "By 2, the root of 3 + 1.",
            "Take the root of `variance + eps`, and add nothing to it.",
        ],
    ),
    Mistake(
        "no_eps",
        STEPS.but(with_eps=lambda variance: variance),
        does="`eps` has no effect",
        says="{does}, so where all features of a vector are alike, 0 is divided by 0. Look for `eps`.",
        hints=[
            "What is the variance of (3, 3, 3, 3)?",
            "`eps` keeps what is divided by away from 0.",
            "Add eps to the variance, under the root.",
        ],
    ),
    Mistake(
        "eps_above_the_fraction_bar",
        STEPS.but(
            with_eps=lambda variance: variance, normalised=lambda deviations, root, eps: (deviations + eps) / root
        ),
        does="`eps` is added to the deviations, not to the variance",
        says="eps is added to the deviations: it stands above the fraction bar. Look at where eps comes in.",
        hints=[
            "What is the variance of (3, 3, 3, 3), and what is divided by?",
            "`eps` keeps what is divided by away from 0.",
            "Add eps to the variance, under the root.",
        ],
    ),
    Mistake(
        "eps_squared",
        STEPS.but(with_eps=lambda variance, eps: variance + eps**2),
        does="`eps` is squared",
        says="eps is squared. It is added to the variance as it is. Look at where eps comes in.",
        hints=[
            "In which case does eps make a difference that can be seen?",
            "The formula has the square of the deviations, but not of eps.",
        ],
    ),
    Mistake(
        "eps_subtracted",
        STEPS.but(with_eps=lambda variance, eps: variance - eps),
        does="`eps` is subtracted from the variance",
        says="eps is subtracted from the variance, so that it may get 0 or negative. Look at the sign.",
        hints=[
            "In the first case the variance is 3 and eps is 1. What should be divided by?",
            "By 2, the root of 3 + 1.",
        ],
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
        hints=[
            "In the first case the variance is 3 and eps is 1. What should be divided by?",
            "By 2, the root of 3 + 1; not by √3.",
        ],
    ),
]

ROOT = [
    Mistake(
        "divides_by_the_variance",
        STEPS.but(root=lambda with_eps: with_eps),
        does="no root is taken of the variance",
        says=(
            "The deviations are divided by the variance, so large vectors come out small and small ones large. A step "
            "is missing."
        ),
        hints=[
            "Should multiplying x by 10 change the result much?",
            "The variance grows with the *square* of x.",
            "Divide by the root of it.",
        ],
    ),
    Mistake(
        "root_of_the_deviation",
        STEPS.but(variance=lambda squares, axis: squares.mean(axis, keepdim=True).sqrt()),
        STEPS.but(root=lambda root: torch.sqrt(root)),
        does="the root is taken twice",
        says="{does}. (`std` is the root of the variance already.) Look at what is under the root.",
        hints=[
            "In the first case the variance is 3. What is the standard deviation, and what is divided by?",
            "eps is added to the variance, and then one root is taken.",
            "`torch.sqrt(x.var(dim=-1, keepdim=True, unbiased=False) + eps)`.",
        ],
    ),
]


MISTAKES = [
    *VARIANCE,
    *EPS,
    *ROOT,
    *of_the_root(STEPS, "variance", 1, "deviations", "the deviations are"),
]
