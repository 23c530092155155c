"""The answer to ``relative_bias``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercises.lesson_05_positions.shared.steps import keys, queries
from transformer_course.steps import InSteps


def relative_bias(
    table: Float[Tensor, "n_heads n_offsets"], n_query: int, n_key: int
) -> Float[Tensor, "n_heads n_query n_key"]:
    """Look up each head's bias for the offset from query to key; offsets beyond the table take its last entries."""
    reach = table.shape[1] // 2
    queries = torch.arange(n_key - n_query, n_key)
    offsets = torch.arange(n_key) - queries[:, None]
    return table[:, offsets.clamp(-reach, reach) + reach]


def reach(table):
    """find the largest offset in the table

    the largest offset in the table
    """
    return table.shape[1] // 2


def offsets(queries, keys):
    """subtract the position of each query from that of each key

    the offsets from query to key, (n_query, n_key)
    """
    return keys - queries[:, None]


def clamped(offsets, reach):
    """bring offsets beyond the table to its ends

    the offsets, brought to the ends of the table
    """
    return offsets.clamp(-reach, reach)


def columns(clamped, reach):
    """add the reach, so that the smallest offset finds column 0

    the columns of the table: offset plus reach
    """
    return clamped + reach


def bias(table, columns):
    """look these columns up

    the biases that stand in these columns
    """
    return table[:, columns]


STEPS = InSteps(reach, queries, keys, offsets, clamped, columns, bias, reference=relative_bias)
