"""The answer to ``soft_lookup`` in steps; the plain one is the library's."""

import torch

from transformer_course.steps import InSteps
from transformer_lab.attention.dot_product import soft_lookup


def scores(query, keys):
    """score every key by its dot product with the query

    the scores, one for each key
    """
    return keys @ query


def weights(scores):
    """turn the scores into weights

    the weights, one for each key
    """
    return torch.softmax(scores, dim=-1)


def column(weights):
    """make a column of the weights

    the weights, each ready to meet a whole value
    """
    return weights[:, None]


def weighted(column, values):
    """multiply each value by its weight

    the weighted values, (n, d_v)
    """
    return column * values


def axis():
    """choose the axis of the keys

    the axis of the sum
    """
    return 0


def mixture(weighted, axis):
    """add the weighted values up

    the weighted average of the values
    """
    return weighted.sum(dim=axis)


def found(mixture):
    """return one vector of width d_v

    what is found
    """
    return mixture


STEPS = InSteps(scores, weights, column, weighted, axis, mixture, found, reference=soft_lookup)
