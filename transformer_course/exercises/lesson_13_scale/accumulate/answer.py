"""The answer to ``accumulate``, plainly and in steps."""

from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.steps import InSteps


def accumulate(losses: Float[Tensor, " n"], n_tokens: Int[Tensor, " n"]) -> Float[Tensor, ""]:
    """Return the loss of the whole batch, from each micro-batch's sum of losses and its number of tokens."""
    return losses.sum() / n_tokens.sum()


def total(losses):
    """add up the sums of the micro-batches

    the sum of the losses of all tokens
    """
    return losses.sum()


def count(n_tokens):
    """add up the numbers of tokens

    the number of tokens in the whole batch
    """
    return n_tokens.sum()


def loss(total, count):
    """divide the one by the other

    the mean over all tokens
    """
    return total / count


STEPS = InSteps(total, count, loss, reference=accumulate)
