"""The answer to ``rnn_step``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def rnn_step(
    state: Float[Tensor, "batch d"],
    token: Float[Tensor, "batch d_token"],
    w: Float[Tensor, "d d"],
    u: Float[Tensor, "d d_token"],
) -> Float[Tensor, "batch d"]:
    """Return the next hidden state of each text: tanh(W h + U x)."""
    return torch.tanh(state @ w.T + token @ u.T)


def w_columns(w):
    """transpose W

    W with its outputs as columns
    """
    return w.T


def u_columns(u):
    """transpose U

    U with its outputs as columns
    """
    return u.T


def kept(state, w_columns):
    """multiply the old state by W

    W h, (batch, d)
    """
    return state @ w_columns


def read(token, u_columns):
    """multiply the token by U

    U x, (batch, d)
    """
    return token @ u_columns


def total(kept, read):
    """add the two

    W h + U x, (batch, d)
    """
    return kept + read


def squashed(total):
    """take the tanh

    tanh(W h + U x)
    """
    return torch.tanh(total)


def output(squashed):
    """return one state for each text

    the new states, (batch, d)
    """
    return squashed


STEPS = InSteps(w_columns, u_columns, kept, read, total, squashed, output, reference=rnn_step)
