"""What goes wrong in where vectors are normalised: which numbers mean and variance are taken of."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.layer_norm.answer import STEPS
from transformer_course.exercises.shared.norm_mistakes import axis_from_the_front

MISTAKES = [
    Mistake(
        "over_the_whole_sentence",
        STEPS.but(axis=lambda x: tuple(range(-min(x.dim(), 2), 0))),
        STEPS.but(axis=lambda: (-2, -1)),
        does="mean and variance are taken of all positions of a sentence together",
        says=(
            "{does}. Then each position depends on all others, and on the padding. Look at which axes are averaged "
            "over."
        ),
        hints=["Change the last vector of a sentence. May the output for the first one change?"],
    ),
    Mistake(
        "over_the_positions",
        STEPS.but(axis=lambda x: -min(x.dim(), 2)),
        STEPS.but(axis=lambda: -2),
        STEPS.but(mean=lambda x: x.mean(dim=-2, keepdim=True)),
        STEPS.but(variance=lambda squares: squares.mean(dim=-2, keepdim=True)),
        does="mean or variance is taken over the positions, the axis before the last",
        says=(
            "Mean or variance is taken over the positions, so positions mix. It should be each position over its "
            "features. Look at the axis."
        ),
        hints=["For x of shape (batch, n, d), which shape should the means have?"],
    ),
    axis_from_the_front(STEPS),
    Mistake(
        "axis_dropped",
        STEPS.but(
            mean=lambda x, axis: x.mean(dim=axis),
            variance=lambda x, axis: x.var(dim=axis, unbiased=False),
        ),
        STEPS.but(mean=lambda x, axis: x.mean(dim=axis)),
        STEPS.but(variance=lambda squares, axis: squares.mean(dim=axis)),
        does="mean or variance loses the axis along which it was taken",
        says=(
            "Right for a single vector. For several, mean or variance has lost its last axis, so it does not line up "
            "with the vectors: a crash, or, where n and d are equal, nonsense. Look at the shapes of mean and variance."
        ),
        hints=["x has the shape (2, 3, 5). Which shape has `x.mean(dim=-1)`?"],
    ),
    Mistake(
        "root_mean_square",
        STEPS.but(mean=lambda x: torch.zeros_like(x[..., :1])),
        does="no mean is subtracted at all, as in RMSNorm",
        says=(
            "No mean is subtracted at all. That is another norm, RMSNorm, which lesson 11 is about. Here each vector "
            "is centred first."
        ),
        hints=["What is the mean of the first case's result? It should be 0."],
    ),
    Mistake(
        "no_brackets",
        STEPS.but(stretched=lambda x, mean, root, weight: weight * x - mean / root),
        STEPS.but(stretched=lambda x, mean, root, weight: x - mean / root * weight),
        STEPS.but(normalised=lambda x, mean, root: x - mean / root),
        does="only the mean is divided, and not the difference of x and the mean",
        says=(
            "Only the mean is divided, and not the difference: division binds more tightly than subtraction. Look at "
            "the brackets."
        ),
        hints=["What is 8 - 6 / 2 in Python?"],
    ),
    Mistake(
        "centres_in_place",
        STEPS.but(deviations=lambda x, mean: x.sub_(mean)),
        does="the mean is subtracted from x in place",
        says=(
            "The result is right, but x is not what it was: it is changed in place, and the caller may still need it. "
            "In an encoder layer, the residual does. Look at what `-=` does to a tensor."
        ),
        hints=["Which line writes into x itself?"],
    ),
]
