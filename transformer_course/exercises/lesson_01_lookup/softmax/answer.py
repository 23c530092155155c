"""The answer to ``softmax``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def softmax(scores: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Turn scores into weights that are positive and add up to 1 along the last axis."""
    largest = scores.max(dim=-1, keepdim=True).values
    exponentials = torch.exp(scores - largest)  # at most exp(0) = 1, so nothing overflows
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def axis():
    """choose the last axis

    the axis along which each row lies
    """
    return -1


def largest(scores, axis):
    """find the largest score of each row

    the largest score of each row, as a column
    """
    return scores.amax(dim=axis, keepdim=True)


def shifted(scores, largest):
    """subtract it

    the shifted scores: the largest of each row is 0
    """
    return scores - largest


def exponentials(shifted):
    """take `exp` of each number

    the exponentials of the shifted scores
    """
    return torch.exp(shifted)


def total(exponentials, axis):
    """add up each row

    the sum of each row, as a column
    """
    return exponentials.sum(dim=axis, keepdim=True)


def shares(exponentials, total):
    """divide by the sum

    the quotients: each exponential divided by the sum of its row
    """
    return exponentials / total


def weights(shares):
    """return a tensor of the scores' shape

    the weights
    """
    return shares


STEPS = InSteps(axis, largest, shifted, exponentials, total, shares, weights, reference=softmax)
