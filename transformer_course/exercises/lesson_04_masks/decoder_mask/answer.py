"""The answer to ``decoder_mask``, plainly and in steps."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_course.exercises.lesson_04_masks.padding_mask.answer import real
from transformer_course.steps import InSteps


def decoder_mask(tokens: Int[Tensor, "batch n"], pad_id: int) -> Bool[Tensor, "batch 1 n n"]:
    """Let every position look at the real tokens up to itself."""
    n = tokens.shape[1]
    real = (tokens != pad_id)[:, None, None, :]  # what may be attended to: (batch, 1, 1, n)
    not_later = torch.ones(n, n, dtype=torch.bool, device=tokens.device).tril()  # (n, n)
    return real & not_later


def keys(real):
    """add axes of length 1 for heads and queries

    the keys that are real: (batch, 1, 1, n)
    """
    return real[:, None, None, :]


def n(tokens):
    """count the tokens of a sentence

    the number of tokens of a sentence: the length of the second axis
    """
    return tokens.shape[1]


def diagonal():
    """choose the last diagonal that stays: that of each position with itself

    the number of the last diagonal that stays: 0
    """
    return 0


def not_later(n, diagonal):
    """make a triangle of that size: True where the key does not come later

    the keys that do not come later: the lower triangle of a matrix of n by n
    """
    return torch.ones(n, n, dtype=torch.bool).tril(diagonal)


def sign():
    """join the two by *and*

    the sign that joins the two: `&`, which means and
    """
    return torch.logical_and


def both(keys, not_later, sign):
    """broadcast them together

    the keys that are real and do not come later: (batch, 1, n, n)
    """
    return sign(keys, not_later)


def mask(both):
    """leave it as it is: True and False

    the mask: that matrix, as it is
    """
    return both


STEPS = InSteps(real, keys, n, diagonal, not_later, sign, both, mask, reference=decoder_mask)
