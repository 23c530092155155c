"""The answer to ``context_vector``, plainly and in steps."""

from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def context_vector(weights: Float[Tensor, "batch n"], states: Float[Tensor, "batch n d"]) -> Float[Tensor, "batch d"]:
    """Mix the n states of each text, each as much as its weight says."""
    weighted = weights[:, :, None] * states  # (batch, n, 1) times (batch, n, d)
    return weighted.sum(dim=1)


def column(weights):
    """give the weights a third axis of length 1

    the weights, each ready to meet a whole state
    """
    return weights[:, :, None]


def weighted(column, states):
    """multiply each state by its weight

    the weighted states, (batch, n, d)
    """
    return column * states


def axis():
    """choose the axis of the states

    the axis of the sum
    """
    return 1


def total(weighted, axis):
    """add the weighted states up

    the sum of each text's weighted states
    """
    return weighted.sum(dim=axis)


def context(total):
    """return one vector for each text

    the contexts, (batch, d)
    """
    return total


STEPS = InSteps(column, weighted, axis, total, context, reference=context_vector)
