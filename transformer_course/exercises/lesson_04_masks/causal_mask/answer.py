"""The answer to ``causal_mask``, plainly and in steps."""

import torch
from jaxtyping import Bool
from torch import Tensor

from transformer_course.steps import InSteps


def causal_mask(n_query: int, n_key: int | None = None) -> Bool[Tensor, "n_query n_key"]:
    """Let every query attend to the keys that do not come later; the last query stands at the last key."""
    n_key = n_query if n_key is None else n_key
    past = n_key - n_query  # keys in front of the first query
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(past)


def columns(n_query, n_key):
    """count the keys: as many as queries where no number is given

    the number of keys: `n_key`, or `n_query` where that is None
    """
    return n_query if n_key is None else n_key


def past(n_query, columns):
    """count the keys in front of the first query

    the number of keys in front of the first query: the number of keys minus `n_query`
    """
    return columns - n_query


def matrix(n_query, columns):
    """make a matrix of True, a row for each query and a column for each key

    a matrix of True: a row for each query, a column for each key
    """
    return torch.ones(n_query, columns, dtype=torch.bool)


def allowed(matrix, past):
    """keep what lies on and below the diagonal that ends at the last row and the last column

    the keys that do not come later: True at row i, column j if j ≤ i + `n_key` − `n_query`
    """
    return matrix.tril(past)


def mask(allowed):
    """leave the matrix as it is: two axes of True and False

    the mask: that matrix, as it is
    """
    return allowed


STEPS = InSteps(columns, past, matrix, allowed, mask, reference=causal_mask)
