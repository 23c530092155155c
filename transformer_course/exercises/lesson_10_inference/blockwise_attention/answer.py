"""The answer to ``blockwise_attention``, plainly and in steps: what is done with each block is a step, too."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def blockwise_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
    block: int,
) -> Float[Tensor, "*batch n_query d_v"]:
    """Compute scaled dot-product attention without ever holding the scores of more than `block` keys."""
    largest = torch.full_like(queries[..., :1], -torch.inf)
    total, mixture = torch.zeros(()), torch.zeros(())
    for start in range(0, keys.shape[-2], block):
        k, v = (x[..., start : start + block, :] for x in (keys, values))
        scores = queries @ k.mT / queries.shape[-1] ** 0.5
        new_largest = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        correction = torch.exp(largest - new_largest)  # brings what is summed already to the new maximum
        exponentials = torch.exp(scores - new_largest)
        total = correction * total + exponentials.sum(dim=-1, keepdim=True)
        mixture = correction * mixture + exponentials @ v
        largest = new_largest
    return mixture / total


def starts(keys, block):
    """begin a block at every `block`-th key

    the keys at which blocks begin
    """
    return range(0, keys.shape[-2], block)


def block_keys(keys, block):
    """take `block` keys from there

    the keys of a block
    """
    return lambda start: keys[..., start : start + block, :]


def block_values(values, block):
    """take the values of these keys

    the values of a block
    """
    return lambda start: values[..., start : start + block, :]


def divisor(queries):
    """take the root of the width of the queries

    the root of d_k
    """
    return queries.shape[-1] ** 0.5


def block_scores(queries, divisor):
    """multiply every query by every key of the block, and divide by the root

    the scores of a block, (…, n_query, block)
    """
    return lambda keys: queries @ keys.mT / divisor


def start(queries, values):
    """begin with a maximum of minus infinity, and sums of 0

    the largest score and the two sums before the first block
    """
    one = queries[..., :1]
    return torch.full_like(one, -torch.inf), torch.zeros_like(one), torch.zeros_like(one) * values[..., :1, :]


def block_largest():
    """find the largest score of each query in the block

    the largest score of each query in a block
    """
    return lambda scores: scores.amax(dim=-1, keepdim=True)


def new_largest():
    """compare it with the largest so far

    the largest score of each query so far
    """
    return lambda largest, in_block: torch.maximum(largest, in_block)


def exponentials():
    """subtract the largest score so far, and take `exp`

    the exponentials of a block
    """
    return lambda scores, new_largest: torch.exp(scores - new_largest)


def correction():
    """take `exp` of the old maximum minus the new one

    what the sums so far are multiplied by: exp(old maximum − new maximum)
    """
    return lambda largest, new_largest: torch.exp(largest - new_largest)


def total():
    """correct the sum of the exponentials, and add those of the block

    the sum of all exponentials so far
    """
    return lambda total, correction, exponentials: correction * total + exponentials.sum(dim=-1, keepdim=True)


def mixture():
    """correct the weighted sum of the values, and add that of the block

    the sum of all values so far, each times its exponential
    """
    return lambda mixture, correction, exponentials, values: correction * mixture + exponentials @ values


def sums(
    start, starts, block_keys, block_values, block_scores, block_largest, new_largest, exponentials, correction, total,
    mixture,
):  # fmt: skip
    """do so for every block

    the weighted sum of the values and the sum of the exponentials
    """
    largest, total_so_far, mixture_so_far = start
    for at in starts:
        scores = block_scores(block_keys(at))
        new = new_largest(largest, block_largest(scores))
        scale, exp = correction(largest, new), exponentials(scores, new)
        total_so_far = total(total_so_far, scale, exp)
        mixture_so_far = mixture(mixture_so_far, scale, exp, block_values(at))
        largest = new
    return mixture_so_far, total_so_far


def output(sums):
    """divide the weighted sum of the values by the sum of the exponentials

    the output: the weighted sum of the values, divided by the sum of the exponentials
    """
    return sums[0] / sums[1]


STEPS = InSteps(
    starts,
    block_keys,
    block_values,
    divisor,
    block_scores,
    start,
    block_largest,
    new_largest,
    exponentials,
    correction,
    total,
    mixture,
    sums,
    output,
    reference=blockwise_attention,
)
