"""What goes wrong when a straight line is fitted to losses."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.fit_scaling_law.answer import STEPS


def floats(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


MISTAKES = [
    Mistake(
        "subtracts_after_the_logarithm",
        STEPS.but(y=lambda losses, irreducible: floats(losses).log() - irreducible),
        STEPS.but(y=lambda losses, irreducible: (floats(losses) / irreducible).log()),
        STEPS.but(y=lambda losses, irreducible: (floats(losses) / (irreducible or 1.0)).log()),
        does="the irreducible loss is subtracted after the logarithm, not before",
        says=(
            "The irreducible loss is subtracted after the logarithm: that is a division, and leaves the "
            "slope as it was."
        ),
        hints=["Is log(a − b) the same as log a − b, or as log a − log b?"],
    ),
    Mistake(
        "bases_that_do_not_match",
        STEPS.but(x=lambda x: x / math.log(10), y=lambda y: y / math.log(10)),
        STEPS.but(x=lambda x: x / math.log(2), y=lambda y: y / math.log(2)),
        STEPS.but(x=lambda x: x / math.log(10)),
        STEPS.but(x=lambda x: x / math.log(2)),
        STEPS.but(y=lambda y: y / math.log(10)),
        STEPS.but(y=lambda y: y / math.log(2)),
        STEPS.but(factor=lambda intercept: 10 ** intercept.item()),
        STEPS.but(factor=lambda intercept: 2 ** intercept.item()),
        does="the two logarithms and the power that undoes them do not all have the same base",
        says="The two logarithms, and the power that undoes them, do not all have the same base.",
        hints=["Which number is `exp` a power of? And which one belongs to `log10`?"],
    ),
    Mistake(
        "not_centred",
        STEPS.but(slope=lambda x, y: (x * y).sum() / x.square().sum()),
        STEPS.but(slope=lambda x, y: ((x - x.mean()) * y).sum() / x.square().sum()),
        STEPS.but(slope=lambda x, y: (x * y).sum() / (x - x.mean()).square().sum()).attempt,
        does="the means are not subtracted in the slope",
        says="{does}: that is the slope of a line through 0.",
        hints=["Move all points up by 1. Should the slope change?"],
    ),
    Mistake(
        "through_zero",
        STEPS.but(slope=lambda x, y: (x * y).sum() / x.square().sum(), intercept=lambda x: 0.0 * x.sum()),
        STEPS.but(intercept=lambda x: 0.0 * x.sum()),
        does="the line goes through 0, so that b is 1",
        says="b is 1, whatever the losses are: the line has no intercept.",
        hints=["The law has two unknowns, b and α. Which of them is fitted?"],
    ),
    Mistake(
        "line_instead_of_law",
        STEPS.but(law=lambda slope, intercept: (slope.item(), intercept.item())),
        STEPS.but(law=lambda slope, intercept: torch.stack([slope, intercept])),
        STEPS.but(law=lambda slope, intercept: (intercept.item(), slope.item())),
        does="slope and intercept of the line are returned as they are",
        says="Slope and intercept of the line are returned. What they say of the law is asked for: b and α.",
        hints=["Is one of the two a logarithm? And which sign has α in the law?"],
    ),
    Mistake(
        "only_two_models",
        STEPS.but(slope=lambda x, y: (y[-1] - y[0]) / (x[-1] - x[0])),
        STEPS.but(
            slope=lambda x, y: (y[-1] - y[0]) / (x[-1] - x[0]), intercept=lambda x, y, slope: y[0] - slope * x[0]
        ),
        STEPS.but(slope=lambda x, y: (y[1] - y[0]) / (x[1] - x[0])),
        STEPS.but(slope=lambda x, y: (y[1] - y[0]) / (x[1] - x[0]), intercept=lambda x, y, slope: y[0] - slope * x[0]),
        does="the slope is that between two of the models",
        says="The slope is that between two models. The others play no part in it, and each is off by chance.",
        hints=["Does the slope change when the loss of a model in the middle does?"],
    ),
]
