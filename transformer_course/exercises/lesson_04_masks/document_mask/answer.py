"""The answer to ``document_mask``, plainly and in steps."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_course.steps import InSteps


def document_mask(documents: Int[Tensor, "batch n"]) -> Bool[Tensor, "batch 1 n n"]:
    """Let every position attend to itself and to what came before it in the same document."""
    n = documents.shape[1]
    same = documents[:, :, None] == documents[:, None, :]  # (batch, n_query, n_key)
    not_later = torch.ones(n, n, dtype=torch.bool).tril()
    return (same & not_later)[:, None]


def queries(documents):
    """say for each query which document it belongs to

    the document of each query, along the rows: (batch, n, 1)
    """
    return documents[:, :, None]


def keys(documents):
    """say for each key which document it belongs to

    the document of each key, along the columns: (batch, 1, n)
    """
    return documents[:, None, :]


def same(queries, keys):
    """compare the two

    whether query and key are of one document: (batch, n, n)
    """
    return queries == keys


def n(documents):
    """count the tokens of a row

    the number of tokens of a row: the length of the second axis
    """
    return documents.shape[1]


def diagonal():
    """choose the last diagonal that stays: that of each position with itself

    the number of the last diagonal that stays: 0
    """
    return 0


def not_later(n, diagonal):
    """make a triangle of that size: True where the key does not come later

    the keys that do not come later: the lower triangle of a matrix of n by n
    """
    return torch.ones(n, n, dtype=torch.bool).tril(diagonal)


def both(same, not_later):
    """join the two by *and*

    the keys of the same document that do not come later: (batch, n, n)
    """
    return same & not_later


def mask(both):
    """add an axis for the heads

    the mask, with an axis of length 1 for the heads: (batch, 1, n, n)
    """
    return both[:, None]


STEPS = InSteps(queries, keys, same, n, diagonal, not_later, both, mask, reference=document_mask)
