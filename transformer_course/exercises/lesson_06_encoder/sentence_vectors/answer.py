"""The answer to ``sentence_vectors``, plainly and in steps."""

from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.steps import InSteps


def sentence_vectors(
    x: Float[Tensor, "batch n d_model"], tokens: Int[Tensor, "batch n"], pad_id: int
) -> Float[Tensor, "batch d_model"]:
    """Average the vectors of each sentence's real tokens; a sentence of padding gets zeros."""
    real = (tokens != pad_id).unsqueeze(-1)  # (batch, n, 1)
    return (x * real).sum(dim=1) / real.sum(dim=1).clamp(min=1)


def real(tokens, pad_id):
    """find the tokens that are not padding

    the mask of the real tokens, of shape (batch, n)
    """
    return tokens != pad_id


def column(real):
    """give this mask an axis for the features

    the mask as a column, of shape (batch, n, 1)
    """
    return real.unsqueeze(-1)


def without_padding(x, column):
    """set the vectors of the padding to 0

    the vectors, with zeros for the padding
    """
    return x * column


def total(without_padding):
    """add up the vectors of each sentence

    the sum of each sentence's vectors
    """
    return without_padding.sum(dim=1)


def count(real):
    """count the real tokens of each sentence

    the number of real tokens of each sentence, of shape (batch, 1)
    """
    return real.sum(dim=1, keepdim=True)


def divisor(count):
    """take 1 for it where there are none

    the divisor: that number, and at least 1
    """
    return count.clamp(min=1)


def mean(total, divisor):
    """divide the sum by it

    the mean of each sentence's vectors
    """
    return total / divisor


STEPS = InSteps(real, column, without_padding, total, count, divisor, mean, reference=sentence_vectors)
