"""The answer to ``softmax_jacobian``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def softmax_jacobian(probabilities: Float[Tensor, " n"]) -> Float[Tensor, "n n"]:
    """Return the derivative of weight i with respect to score j, at row i and column j."""
    return torch.diag(probabilities) - torch.outer(probabilities, probabilities)


def delta(probabilities):
    """make the table of all δ_ij

    1 on the diagonal and 0 beside it
    """
    return torch.eye(len(probabilities))


def column(probabilities):
    """make a column of the weights

    p_i, the same along each row
    """
    return probabilities[:, None]


def row(probabilities):
    """make a row of the weights

    p_j, the same down each column
    """
    return probabilities[None, :]


def own(column, delta):
    """multiply δ_ij by p_i

    the weights on a diagonal
    """
    return column * delta


def products(column, row):
    """multiply every weight by every weight

    all the products p_i p_j
    """
    return column * row


def difference(own, products):
    """subtract the products

    p_i δ_ij − p_i p_j
    """
    return own - products


def jacobian(difference):
    """return the whole table

    the Jacobian
    """
    return difference


STEPS = InSteps(delta, column, row, own, products, difference, jacobian, reference=softmax_jacobian)
