"""What goes wrong in where vectors are normalised: which numbers mean and variance are taken of."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_06_encoder.layer_norm.answer import STEPS
from transformer_course.exercises.shared.norm_mistakes import axis_from_the_front

MISTAKES = [
    Mistake(
        "over_everything",
        STEPS.but(axis=lambda x: tuple(range(x.dim()))),
        STEPS.but(mean=lambda x: x.mean()),
        STEPS.but(variance=lambda squares: squares.mean()),
        does="one mean or variance is taken of all numbers in x together",
        says=(
            "{does}. Then each position depends on all others, and on the padding. Look at which axes are averaged "
            "over."
        ),
        hints=[
            "Change the last vector of a sentence. May the output for the first one change?",
            "Each vector has a mean of its own: for x of shape (batch, n, d), the means have the shape (batch, n, 1).",
            "Average over the last axis only: `dim=-1`.",
        ],
    ),
    Mistake(
        "over_the_whole_sentence",
        STEPS.but(axis=lambda x: tuple(range(-min(x.dim(), 2), 0))),
        STEPS.but(axis=lambda: (-2, -1)),
        does="mean and variance are taken of all positions of a sentence together",
        says=(
            "{does}. Then each position depends on all others, and on the padding. Look at which axes are averaged "
            "over."
        ),
        hints=[
            "Change the last vector of a sentence. May the output for the first one change?",
            "Each vector has a mean of its own: for x of shape (batch, n, d), the means have the shape (batch, n, 1).",
            "Average over the last axis only: `dim=-1`.",
        ],
    ),
    Mistake(
        "over_the_batch",
        STEPS.but(axis=lambda: 0),
        STEPS.but(axis=lambda x: tuple(range(x.dim() - 1)) or 0),
        STEPS.but(mean=lambda x: x.mean(dim=0, keepdim=True)),
        STEPS.but(variance=lambda squares: squares.mean(dim=0, keepdim=True)),
        does="mean or variance is taken over the batch, not over the features",
        says=(
            "Each feature is normalised over the batch, which is what BatchNorm does. What comes out for a sentence "
            "then depends on its neighbours. Look at the axis of the mean and of the variance."
        ),
        hints=[
            "Which of these should not matter for a vector: its own features, or the other sentences?",
            "The first axis counts the sentences, the last one the features.",
            "Average over the last axis: `dim=-1`.",
        ],
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
        hints=[
            "For x of shape (batch, n, d), which shape should the means have?",
            "One mean for each vector: (batch, n, 1).",
            "Average over the last axis: `dim=-1`.",
        ],
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
        hints=[
            "x has the shape (2, 3, 5). Which shape has `x.mean(dim=-1)`?",
            "To be subtracted from x, it should have the shape (2, 3, 1).",
            "`keepdim=True` keeps the axis, with length 1.",
        ],
    ),
    Mistake(
        "mean_kept",
        STEPS.but(normalised=lambda x, root: x / root),
        does="`x` itself is divided, without its mean being subtracted",
        says="The mean of the result is not 0: x is divided, but never centred. Look at what is divided.",
        hints=[
            "What is the mean of the first case's result? It should be 0.",
            "Which number has to be subtracted from all features of a vector?",
            "Divide `x - mean`, not x.",
        ],
    ),
    Mistake(
        "root_mean_square",
        STEPS.but(mean=lambda x: torch.zeros_like(x[..., :1])),
        does="no mean is subtracted at all, as in RMSNorm",
        says=(
            "No mean is subtracted at all. That is another norm, RMSNorm, which lesson 11 is about. Here each vector "
            "is centred first."
        ),
        hints=[
            "What is the mean of the first case's result? It should be 0.",
            "Both the deviations and the variance are about the mean.",
            "Begin with `x - x.mean(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "sum_in_place_of_the_mean",
        STEPS.but(mean=lambda x, axis: x.sum(dim=axis, keepdim=True)),
        does="the sum of the features is taken for their mean",
        says="The features are added up and not averaged: the sum is subtracted. Look at how the mean is computed.",
        hints=[
            "In the first case, the mean of 4, 0, 0 and 0 is 1. What is subtracted?",
            "A mean is a sum divided by the number of summands.",
            "`x.mean(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "median_in_place_of_the_mean",
        STEPS.but(mean=lambda x: x.median(dim=-1, keepdim=True).values),
        does="the median is taken for the mean",
        says="The median of the features is subtracted, not their mean.",
        hints=[
            "In the first case, which number is subtracted from 4, 0, 0 and 0?",
            "Their mean is 1, and their median 0.",
            "`x.mean(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "mean_added",
        STEPS.but(deviations=lambda x, mean: x + mean),
        does="the mean is added to x, not subtracted",
        says="{does}. Look at the sign.",
        hints=[
            "In the first case, the first deviation should be 3, and the others −1. What are they?",
            "Each deviation is the number less the mean.",
        ],
    ),
    Mistake(
        "deviations_negated",
        STEPS.but(deviations=lambda x, mean: mean - x),
        does="`x` is subtracted from the mean",
        says=(
            "x is subtracted from the mean, so all deviations have the wrong sign. Look at what is subtracted from "
            "what."
        ),
        hints=[
            "In the first case, the first deviation should be 3, and the others −1. What are they?",
            "Each deviation is the number less the mean.",
        ],
    ),
    Mistake(
        "only_centred",
        STEPS.but(normalised=lambda deviations: deviations),
        does="the deviations are not divided",
        says="The mean is subtracted, but the size of the vectors is as it was. A step is missing.",
        hints=[
            "What is the variance of each vector of the result, before weight and bias? It should be near 1.",
            "By what does one divide to bring the variance to 1?",
            "By the root of variance plus eps.",
        ],
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
        hints=[
            "What is 8 - 6 / 2 in Python?",
            "First the mean is subtracted, and then the result is divided.",
            "Put `x - mean` in brackets.",
        ],
    ),
    Mistake(
        "centres_in_place",
        STEPS.but(deviations=lambda x, mean: x.sub_(mean)),
        does="the mean is subtracted from x in place",
        says=(
            "The result is right, but x is not what it was: it is changed in place, and the caller may still need it. "
            "In an encoder layer, the residual does. Look at what `-=` does to a tensor."
        ),
        hints=[
            "Which line writes into x itself?",
            "`x -= 1` changes the tensor; `x = x - 1` makes a new one.",
            "Give the centred vectors a name of their own.",
        ],
    ),
]
