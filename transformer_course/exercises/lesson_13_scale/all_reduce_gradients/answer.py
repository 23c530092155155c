"""The answer to ``all_reduce_gradients``, plainly and in steps."""

from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.steps import InSteps


def all_reduce_gradients(
    gradients: Float[Tensor, "n_workers n"], n_tokens: Int[Tensor, " n_workers"]
) -> Float[Tensor, "n_workers n"]:
    """Return, in each worker's row, the gradient of the mean loss over the tokens of all workers."""
    of_sums = gradients * n_tokens[:, None]
    return (of_sums.sum(dim=0) / n_tokens.sum()).repeat(len(gradients), 1)


def of_sums(gradients, n_tokens):
    """multiply each worker's gradient by its number of tokens

    the gradient of the sum of each worker's losses, (n_workers, n)
    """
    return gradients * n_tokens[:, None]


def total(of_sums):
    """add up over the workers

    the gradient of the sum of all losses, (n)
    """
    return of_sums.sum(dim=0)


def count(n_tokens):
    """add up the numbers of tokens

    the number of tokens of all workers
    """
    return n_tokens.sum()


def mean(total, count):
    """divide the sum by the number of all tokens

    the gradient of the mean over all tokens, (n)
    """
    return total / count


def reduced(mean, gradients):
    """hand it to every worker

    the same gradient in every row, (n_workers, n)
    """
    return mean.repeat(len(gradients), 1)


STEPS = InSteps(of_sums, total, count, mean, reduced, reference=all_reduce_gradients)
