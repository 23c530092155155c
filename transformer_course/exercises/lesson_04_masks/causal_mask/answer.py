"""The answer to ``causal_mask``, plainly and in steps."""

import torch
from jaxtyping import Bool
from torch import Tensor

from transformer_course.steps import InSteps


def causal_mask(length: int) -> Bool[Tensor, "length length"]:
    """Let every position look at itself and at what came before: True at row i, column j if j ≤ i."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def table(length):
    """make a table of True, a row for each query and a column for each key

    a table of True: a row for each query, a column for each key
    """
    return torch.ones(length, length, dtype=torch.bool)


def diagonal():
    """choose the last diagonal that stays: that of each position with itself

    the number of the last diagonal that stays: 0
    """
    return 0


def allowed(table, diagonal):
    """keep the triangle below it

    the lower triangle: True at row i, column j if j ≤ i
    """
    return table.tril(diagonal)


def mask(allowed):
    """leave the table as it is: two axes of True and False

    the mask: that triangle, as it is
    """
    return allowed


STEPS = InSteps(table, diagonal, allowed, mask, reference=causal_mask)
