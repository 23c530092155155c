"""The answer to ``prefix_mask``, plainly and in steps."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_course.steps import InSteps


def prefix_mask(prefix_lengths: Int[Tensor, " batch"], length: int) -> Bool[Tensor, "batch 1 length length"]:
    """Let every position look at its row's prefix and at what is not later than itself."""
    positions = torch.arange(length)
    in_the_prefix = positions < prefix_lengths[:, None, None, None]  # a statement about keys: (batch, 1, 1, length)
    not_later = positions <= positions[:, None]  # (length, length): column and row
    return in_the_prefix | not_later


def keys(length):
    """count the positions of the keys, in a row

    the positions of the keys, as a row
    """
    return torch.arange(length)


def queries(length):
    """count the positions of the queries, in a column

    the positions of the queries, as a column
    """
    return torch.arange(length)[:, None]


def lengths(prefix_lengths):
    """give the lengths three more axes, for heads, queries and keys

    the lengths of the prefixes, (batch, 1, 1, 1)
    """
    return prefix_lengths[:, None, None, None]


def in_the_prefix(keys, lengths):
    """find the keys that are in the prefix

    the mask of the keys in the prefix
    """
    return keys < lengths


def not_later(keys, queries):
    """find the keys that are not later than the query

    the mask of the keys that are not later than the query
    """
    return keys <= queries


def mask(in_the_prefix, not_later):
    """open what is either

    the mask: in the prefix, or not later than the query
    """
    return in_the_prefix | not_later


STEPS = InSteps(keys, queries, lengths, in_the_prefix, not_later, mask, reference=prefix_mask)
