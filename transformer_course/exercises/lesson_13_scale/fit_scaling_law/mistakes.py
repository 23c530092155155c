"""What goes wrong when a straight line is fitted to losses."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.fit_scaling_law.answer import STEPS


def floats(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def covariance(x, y):
    return ((x - x.mean()) * (y - y.mean())).mean()


MISTAKES = [
    Mistake(
        "keeps_the_irreducible_loss",
        STEPS.but(reducible=lambda losses: floats(losses)),
        does="the irreducible loss is not subtracted",
    ),
    Mistake(
        "adds_the_irreducible_loss",
        STEPS.but(reducible=lambda losses, irreducible: floats(losses) + irreducible),
        STEPS.but(reducible=lambda losses, irreducible: irreducible - floats(losses)),
        does="the irreducible loss has the wrong sign in the difference",
    ),
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
        "sizes_without_logarithm",
        STEPS.but(x=lambda n_parameters: floats(n_parameters)),
        does="no logarithm of the sizes is taken",
    ),
    Mistake(
        "losses_without_logarithm",
        STEPS.but(y=lambda reducible: reducible),
        does="no logarithm of the losses is taken",
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
        "axes_exchanged",
        STEPS.but(
            slope=lambda x, y: covariance(x, y) / covariance(y, y),
            intercept=lambda x, y, slope: x.mean() - slope * y.mean(),
        ),
        does="the sizes are fitted to the losses, not the losses to the sizes",
    ),
    Mistake(
        "slope_and_intercept_exchanged",
        STEPS.but(factor=lambda slope: slope.exp().item(), exponent=lambda intercept: -intercept.item()),
        does="the slope is taken for the intercept, and the intercept for the slope",
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
    Mistake(
        "mean_of_slopes",
        STEPS.but(slope=lambda x, y: (y.diff() / x.diff()).mean()),
        does="the slopes from each model to the next are averaged",
        says=(
            "The slopes from model to model are averaged. Two models of nearly the same size then count as "
            "much as two far apart."
        ),
        hints=["What is the slope between two models of the same size?"],
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
        "slope_upside_down",
        STEPS.but(slope=lambda slope: 1 / slope),
        does="the slope is one over what it should be",
    ),
    Mistake(
        "correlation",
        STEPS.but(slope=lambda x, y: covariance(x, y) / (covariance(x, x) * covariance(y, y)).sqrt()),
        STEPS.but(slope=lambda x, y: covariance(x, y) / covariance(x, x).sqrt()),
        STEPS.but(slope=lambda x, y: covariance(x, y) * len(x) / (len(x) - 1) / x.std()),
        STEPS.but(slope=lambda x, y: covariance(x, y)),
        STEPS.but(slope=lambda x, y: covariance(x, y) * len(x)),
        does="what is divided by in the slope is not the square of the distances of x",
        says="This is a covariance or a correlation: what it is divided by is not Σ (x − x̄)².",
        hints=["Stretch x by 2. By which factor should the slope change?"],
    ),
    Mistake(
        "n_and_n_minus_1",
        STEPS.but(slope=lambda slope, x: slope * len(x) / (len(x) - 1)),
        STEPS.but(slope=lambda slope, x: slope * (len(x) - 1) / len(x)),
        does="above the fraction bar is divided by n, below it by n − 1, or the other way round",
        says="Off by n / (n − 1): covariance and variance do not divide by the same number.",
        hints=["`np.cov` divides by n − 1. By what does `np.var` divide? And `torch.var`?"],
    ),
    Mistake(
        "another_height",
        STEPS.but(intercept=lambda y: y.mean()),
        STEPS.but(intercept=lambda y, slope: y.mean() - slope),
        STEPS.but(intercept=lambda x, y, slope: y.mean() + slope * x.mean()),
        STEPS.but(intercept=lambda x, y, slope: slope * x.mean() - y.mean()),
        STEPS.but(factor=lambda intercept: (-intercept).exp().item()),
        STEPS.but(intercept=lambda y: y[0]).attempt,
        STEPS.but(intercept=lambda x, y, slope: y[0] - slope * x[0]),
        STEPS.but(intercept=lambda x, y, slope: y[-1] - slope * x[-1]),
        does="the line does not go through the point of the means, or its height has the wrong sign",
        says="The line has another height: it does not go through the point of the means, or a sign is wrong.",
        hints=["What does the fitted law say of a model in the middle?"],
    ),
    Mistake(
        "the_slope_as_exponent",
        STEPS.but(exponent=lambda slope: slope.item()),
        does="the slope is returned as the exponent, with its sign",
    ),
    Mistake(
        "logarithm_of_the_factor",
        STEPS.but(factor=lambda intercept: intercept.item()),
        does="the logarithm of the factor is returned",
    ),
    Mistake(
        "another_factor",
        STEPS.but(factor=lambda factor, irreducible: factor + irreducible),
        STEPS.but(factor=lambda intercept, slope: (-intercept / slope).exp().item()),
        does="the factor is made of the intercept in another way than by its exponential",
        says="The factor is not the exponential of the intercept alone.",
        hints=["At N = 1, what does the law say?"],
    ),
    Mistake(
        "alpha_first",
        STEPS.but(law=lambda factor, exponent: (exponent, factor)),
        does="the exponent is returned first, then the factor",
    ),
    Mistake(
        "three_numbers",
        STEPS.but(law=lambda factor, exponent, irreducible: (irreducible, factor, exponent)),
        STEPS.but(law=lambda factor, exponent, irreducible: (factor, exponent, irreducible)),
        does="the irreducible loss is returned as well",
        says="{does}. It was given; b and α are asked for.",
        hints=["What does the annotation after `->` promise?"],
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
        "in_one_tensor",
        STEPS.but(law=lambda factor, exponent: floats([factor, exponent])),
        STEPS.but(law=lambda factor, exponent: torch.tensor([factor, exponent])),
        STEPS.but(law=lambda factor, exponent: {"b": factor, "alpha": exponent}).attempt,
        does="the two numbers come in one tensor or table",
        says="The numbers are right, in one tensor or table. A pair of numbers is asked for.",
        hints=["What does `type` say of the result?"],
    ),
    Mistake(
        "rounds",
        STEPS.but(law=lambda factor, exponent: (round(factor, 2), round(exponent, 2))),
        STEPS.but(law=lambda factor, exponent: (factor, round(exponent, 2))),
        STEPS.but(law=lambda factor, exponent: (round(factor, 1), round(exponent, 2))).attempt,
        STEPS.but(law=lambda factor, exponent: (round(factor), round(exponent, 2))).attempt,
        does="the numbers are rounded",
        says="{does}. Far to the right, a hundredth of α makes a difference.",
        hints=["What is `1e9 ** 0.01`?"],
    ),
    Mistake(
        "arithmetic_on_a_list",
        STEPS.but(reducible=lambda losses, irreducible: losses - irreducible).attempt,
        STEPS.but(x=lambda n_parameters: torch.log(n_parameters)).attempt,
        STEPS.but(x=lambda n_parameters: math.log(n_parameters)).attempt,
        STEPS.but(x=lambda n_parameters: n_parameters.log()).attempt,
        says="Sizes and losses come as Python lists. Lists cannot be subtracted from, and have no logarithm.",
        hints=[
            "What is `[1.0, 2.0] - 1.0`?",
            "A tensor can be computed with as a whole; with a list, each number comes on its own.",
            "`torch.tensor(losses, dtype=torch.float64)`.",
        ],
    ),
]
