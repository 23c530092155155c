"""The answer to ``alibi_bias`` in steps; the plain one is the library's."""

import torch

from transformer_course.exercises.lesson_05_positions.shared.steps import keys, queries
from transformer_course.steps import InSteps
from transformer_lab.attention.positions import alibi_bias


def heads(n_heads):
    """count the heads from 1

    the numbers of the heads, from 1 on
    """
    return torch.arange(1, n_heads + 1)


def exponents(heads, n_heads):
    """multiply by 8 and divide by the number of heads

    the exponents without their minus: 8h / n_heads
    """
    return 8 * heads / n_heads


def slopes(exponents):
    """take the powers of 2 with minus this exponent

    the slopes: 2^(−8h / n_heads)
    """
    return 2.0**-exponents


def offsets(queries, keys):
    """subtract the position of each key from that of each query

    the offsets from key to query, (n_query, n_key)
    """
    return queries[:, None] - keys


def distances(offsets):
    """drop the signs

    the distances: the offsets without their signs
    """
    return offsets.abs()


def slopes_in_front(slopes):
    """give the slopes two more axes

    the slopes, with two more axes
    """
    return slopes[:, None, None]


def penalties(slopes_in_front, distances):
    """multiply the distances by each slope

    slope times distance, (n_heads, n_query, n_key)
    """
    return slopes_in_front * distances


def bias(penalties):
    """put a minus in front

    the bias: minus slope times distance
    """
    return -penalties


STEPS = InSteps(
    heads, exponents, slopes, queries, keys, offsets, distances, slopes_in_front, penalties, bias, reference=alibi_bias
)
