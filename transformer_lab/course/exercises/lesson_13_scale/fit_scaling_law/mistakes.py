"""What goes wrong when a straight line is fitted to losses."""

import math

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_13_scale.fit_scaling_law.answer import STEPS

LOG_LOG = "log(loss − irreducible) = log b − α log N."

MISTAKES = [
    Mistake(
        "keeps_the_irreducible_loss",
        [STEPS.but(reducible=lambda losses: torch.tensor(losses, dtype=torch.float64))],
        does="the irreducible loss is not subtracted",
        says="The irreducible loss is still in what the line is fitted to, so the line is too flat.",
        hints=["What does the loss of an ever larger model approach?", LOG_LOG, "Subtract it before the logarithm."],
    ),
    Mistake(
        "sizes_without_logarithm",
        [STEPS.but(x=lambda n_parameters: torch.tensor(n_parameters, dtype=torch.float64))],
        does="no logarithm of the sizes is taken",
        says="The sizes themselves are on the x axis. A power law is a straight line only on log-log axes.",
        hints=["Which two quantities does a straight line connect here?", LOG_LOG, "The logarithm of the sizes, too."],
    ),
    Mistake(
        "the_slope_as_exponent",
        [STEPS.but(exponent=lambda slope: slope.item())],
        does="the slope is returned as the exponent, with its sign",
        says="The exponent has the wrong sign: the law has a minus before α.",
        hints=["Does the line rise or fall?", LOG_LOG, "Minus the slope."],
    ),
    Mistake(
        "logarithm_of_the_factor",
        [STEPS.but(factor=lambda intercept: intercept.item())],
        does="the logarithm of the factor is returned",
        says="The first number is log b, not b: it is where the line crosses x = 0 on log-log axes.",
        hints=["Can the factor be below 0?", LOG_LOG, f"`{math.exp.__name__}` undoes the logarithm."],
    ),
]
