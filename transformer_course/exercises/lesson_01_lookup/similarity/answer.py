"""The answer to ``similarity``, plainly and in steps."""

from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def similarity(query: Float[Tensor, " d"], keys: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """Score every key by its dot product with the query."""
    return (keys * query).sum(dim=-1)


def row(query):
    """line the entries of the query up with those of the keys

    the query as a row that meets every key
    """
    return query[None, :]


def products(row, keys):
    """multiply every key by the query, entry by entry

    the products, (n, d)
    """
    return keys * row


def axis():
    """choose the axis of the width

    the axis of the sum
    """
    return -1


def sums(products, axis):
    """add up the products of each key

    the dot products
    """
    return products.sum(dim=axis)


def scores(sums):
    """return one number for each key

    the scores, (n,)
    """
    return sums


STEPS = InSteps(row, products, axis, sums, scores, reference=similarity)
