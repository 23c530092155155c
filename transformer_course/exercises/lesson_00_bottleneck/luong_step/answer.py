"""The answer to ``luong_step``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def luong_step(
    state: Float[Tensor, "batch d"], states: Float[Tensor, "batch n d"], w_c: Float[Tensor, "d_out d_both"]
) -> Float[Tensor, "batch d_out"]:
    """Score the states by dot products with the decoder's state, mix them, and combine: tanh(W_c [c; s])."""
    scores = (states * state[:, None, :]).sum(dim=-1)  # (batch, n)
    weights = torch.softmax(scores, dim=-1)
    context = (weights[:, :, None] * states).sum(dim=1)  # (batch, d)
    return torch.tanh(torch.cat([context, state], dim=-1) @ w_c.T)


def row(state):
    """let the decoder's state meet every state of its text

    the decoder's states, each as a row
    """
    return state[:, None, :]


def products(row, states):
    """multiply the two entry by entry

    the products, (batch, n, d)
    """
    return states * row


def scores(products):
    """add up the products of each state

    the scores, (batch, n)
    """
    return products.sum(dim=-1)


def axis():
    """choose the axis of the states for the softmax

    the axis along which the weights add up to 1
    """
    return -1


def weights(scores, axis):
    """take the softmax of the scores

    the weights, (batch, n)
    """
    return torch.softmax(scores, dim=axis)


def weighted(weights, states):
    """multiply each state by its weight

    the weighted states, (batch, n, d)
    """
    return weights[:, :, None] * states


def context(weighted):
    """add the weighted states up

    the contexts, (batch, d)
    """
    return weighted.sum(dim=1)


def both(context, state):
    """put context and state side by side

    [c; s], (batch, 2 d)
    """
    return torch.cat([context, state], dim=-1)


def matrix(w_c):
    """transpose W_c

    W_c with its outputs as columns
    """
    return w_c.T


def combined(both, matrix):
    """multiply by it

    W_c [c; s], (batch, d_out)
    """
    return both @ matrix


def squashed(combined):
    """take the tanh

    tanh(W_c [c; s])
    """
    return torch.tanh(combined)


def output(squashed):
    """return one vector for each text

    the output vectors, (batch, d_out)
    """
    return squashed


STEPS = InSteps(
    row,
    products,
    scores,
    axis,
    weights,
    weighted,
    context,
    both,
    matrix,
    combined,
    squashed,
    output,
    reference=luong_step,
)
