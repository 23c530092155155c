"""The answer to ``head_contributions``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def head_contributions(
    heads: Float[Tensor, "batch n_heads n d_k"], w_o: Float[Tensor, "d_out d_merged"]
) -> Float[Tensor, "batch n_heads n d_out"]:
    """Return what each head adds to merge_heads(heads) @ w_o.T: the sum over the heads is all of it."""
    n_heads, d_k = heads.shape[1], heads.shape[3]
    per_head = w_o.T.reshape(n_heads, d_k, -1)  # head i meets columns i·d_k … (i + 1)·d_k − 1 of w_o
    return heads @ per_head


def columns(w_o):
    """transpose w_o: a row for each feature of the merged vector

    w_o, transposed: a row for each feature of the merged vector
    """
    return w_o.T


def own(heads):
    """choose the rows of each head: neighbours, as many as it is wide

    the rows that belong to a head: i·d_k to (i + 1)·d_k − 1 for head i
    """
    d_k = heads.shape[3]
    return lambda head: slice(head * d_k, (head + 1) * d_k)


def terms(heads, columns, own):
    """multiply each head by its own rows

    what each head adds: the head times its own rows of w_o, transposed
    """
    return torch.stack([heads[:, i] @ columns[own(i)] for i in range(heads.shape[1])], dim=1)


def scaled(terms):
    """take the products as they are

    what each head adds, as it is
    """
    return terms


def contributions(scaled):
    """leave the heads where they are: one term for each, behind the batch

    the contributions: (batch, n_heads, n, d_out)
    """
    return scaled


STEPS = InSteps(columns, own, terms, scaled, contributions, reference=head_contributions)
