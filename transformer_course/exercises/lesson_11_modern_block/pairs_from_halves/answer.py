"""The answer to ``pairs_from_halves``, plainly and in steps."""

from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def pairs_from_halves(weight: Float[Tensor, "rows d_model"], d_k: int) -> Float[Tensor, "rows d_model"]:
    """Reorder the rows of each head, so that those which RoPE rotates together are neighbours."""
    halves = weight.unflatten(0, (-1, 2, d_k // 2))
    return halves.transpose(1, 2).flatten(0, 2)


def heads(weight, d_k):
    """cut the rows into heads of d_k rows → the heads: (n_heads, d_k, d_model)"""
    return weight.unflatten(0, (-1, d_k))


def halves(heads, d_k):
    """cut each head into two halves → the halves: (n_heads, 2, d_k/2, d_model)"""
    return heads.unflatten(1, (2, d_k // 2))


def pairs(halves):
    """swap the axis of the halves with that of their rows → the pairs: (n_heads, d_k/2, 2, d_model)"""
    return halves.transpose(1, 2)


def rows(pairs):
    """make one axis of heads, pairs and their two rows → the rows in their new order: (n_heads · d_k, d_model)"""
    return pairs.flatten(0, 2)


STEPS = InSteps(heads, halves, pairs, rows, reference=pairs_from_halves)
