"""A small step-by-step answer that computes the weighted mean of rows, for the tests in this package."""

import torch

from transformer_course.steps import InSteps


def weighted_mean(rows, weights, scale=None):
    """Average rows with weights."""
    shares = weights / weights.sum()
    return ((shares if scale is None else scale * shares)[:, None] * rows).sum(dim=0)


def total(weights):
    """add up the weights

    the sum of the weights
    """
    return weights.sum()


def shares(weights, total):
    """divide by the sum

    the shares, which add up to 1
    """
    return weights / total


def scaled(shares, scale):
    """multiply by the scale, if there is one

    the scaled shares
    """
    return shares if scale is None else scale * shares


def mean(scaled, rows):
    """add up the rows, each times its share

    the mean
    """
    return (scaled[:, None] * rows).sum(dim=0)


STEPS = InSteps(total, shares, scaled, mean, reference=weighted_mean)
ROWS, WEIGHTS = torch.tensor([[1.0, 2.0, 4.0], [3.0, 5.0, 9.0]]), torch.tensor([1.0, 3.0])
SAMPLES = [
    STEPS.values(STEPS.arguments.bind(ROWS, WEIGHTS)),
    STEPS.values(STEPS.arguments.bind(ROWS, WEIGHTS, 2.0)),
]
