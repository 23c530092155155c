"""The answer to ``induction_score``, plainly and in steps."""

from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def induction_score(weights: Float[Tensor, "batch n_heads n n"], period: int) -> Float[Tensor, " n_heads"]:
    """Return how much each head attends, on average, to the token that followed the current one a period ago."""
    followed = weights.diagonal(1 - period, dim1=-2, dim2=-1)  # query i, key i − period + 1: from i = period − 1 on
    return followed[..., 1:].mean(dim=(0, -1))  # the first of these queries still stands in the first period


def distance(period):
    """count the positions back to the token that followed

    how many positions back that token stands: period − 1
    """
    return period - 1


def followed(weights, distance):
    """take the weights on the key so many positions back: a diagonal of each head

    the weights on the token that followed, (batch, n_heads, n − distance)
    """
    return weights.diagonal(-distance, dim1=-2, dim2=-1)


def repeated(followed):
    """leave out the first of these queries, whose token is new

    the weights of the queries whose token has occurred before
    """
    return followed[..., 1:]


def score(repeated):
    """take the mean over texts and queries

    the mean weight of each head, (n_heads,)
    """
    return repeated.mean(dim=(0, -1))


STEPS = InSteps(distance, followed, repeated, score, reference=induction_score)
