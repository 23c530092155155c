"""Attention in blocks of keys: the idea of FlashAttention.

Whether an answer looks at more than ``block`` keys at a time is judged by what torch makes of the queries: where there
are many keys and few queries, no tensor may be as large as the scores of *one* query with all keys. So two passes over
the blocks pass, and so do results of all blocks that are joined at the end, as both keep to the memory. What numpy
computes is not seen: such an answer passes, and is told that no gradient passes through it.

Where answers are graded, nothing that runs beside them is believed. There an answer that has passed is called once
more, on so many keys that the table of all scores is larger than the memory that its process may take.
"""

import dataclasses

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
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
    """begin a block at every `block`-th key → the keys at which blocks begin"""
    return range(0, keys.shape[-2], block)


def block_keys(keys, block):
    """take `block` keys from there → the keys of a block"""
    return lambda start: keys[..., start : start + block, :]


def block_values(values, block):
    """take the values of these keys → the values of a block"""
    return lambda start: values[..., start : start + block, :]


def divisor(queries):
    """take the root of the width of the queries → the root of d_k"""
    return queries.shape[-1] ** 0.5


def block_scores(queries, divisor):
    """multiply queries by the block's keys, and scale → the scores of a block, (…, n_query, block)"""
    return lambda keys: queries @ keys.mT / divisor


def start(queries, values):
    """begin with a maximum of −∞ and sums of 0 → the largest score and the two sums before the first block"""
    one = queries[..., :1]
    return torch.full_like(one, -torch.inf), torch.zeros_like(one), torch.zeros_like(one) * values[..., :1, :]


def block_largest():
    """find the largest score of each query in the block → the largest score of each query in a block"""
    return lambda scores: scores.amax(dim=-1, keepdim=True)


def new_largest():
    """compare it with the largest so far → the largest score of each query so far"""
    return lambda largest, in_block: torch.maximum(largest, in_block)


def exponentials():
    """subtract the largest score so far, and take `exp` → the exponentials of a block"""
    return lambda scores, new_largest: torch.exp(scores - new_largest)


def correction():
    """take `exp` of old maximum − new maximum → the factor for the sums so far: exp(old maximum − new maximum)"""
    return lambda largest, new_largest: torch.exp(largest - new_largest)


def total():
    """correct the sum of the exponentials, and add those of the block → the sum of all exponentials so far"""
    return lambda total, correction, exponentials: correction * total + exponentials.sum(dim=-1, keepdim=True)


def mixture():
    """correct the weighted sum, and add that of the block → the sum of all values so far, each times its exp"""
    return lambda mixture, correction, exponentials, values: correction * mixture + exponentials @ values


def sums(
    start, starts, block_keys, block_values, block_scores, block_largest, new_largest, exponentials, correction, total,
    mixture,
):  # fmt: skip
    """do so for every block → the weighted sum of the values and the sum of the exponentials"""
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
    """divide the weighted sum by the sum → the output: the weighted sum of the values over the sum of exps"""
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


def blockwise_attention_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(leading: tuple[int, ...], n_query: int, n_key: int, d: int, d_v: int, block: int, shows: str) -> Case:
        inputs = {
            "queries": normal(rng, *leading, n_query, d),
            "keys": normal(rng, *leading, n_key, d),
            "values": normal(rng, *leading, n_key, d_v),
        }
        return Case({**inputs, "block": block}, shows)

    rising = case((), 2, 6, 3, 4, 2, "scores that rise from block to block, or fall")
    rising.inputs["keys"].abs_().add_(0.5).mul_((1.0 + rising.inputs["keys"].new_tensor(range(6)))[:, None])
    rising.inputs["queries"].abs_().add_(0.5)[1].neg_()
    extreme = case((), 4, 5, 2, 1, 2, "scores of thousands that rise or fall, above 0 or below")
    sizes = (0.5 + extreme.inputs["keys"].abs()).cumsum(dim=0)
    extreme.inputs["keys"][:, 0], extreme.inputs["keys"][:, 1] = sizes[:, 0], sizes[:, 1].flip(0)
    extreme.inputs["queries"][:] = 1000.0 * torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    # All the scores of one query are 512 numbers; those of a block, or even all its products, are far fewer.
    long = dataclasses.replace(
        case((), 2, 512, 5, 4, 16, "512 keys, 16 at a time: how large are the tensors?"),
        max_numbers={"queries": 511},
    )
    return [
        case((), 1, 2, 4, 1, 1, "one query, 2 keys, one at a time"),
        case((), 2, 6, 3, 5, 3, "2 queries, 6 keys, 3 at a time"),
        case((), 3, 5, 3, 2, 2, "5 keys, 2 at a time: the last block is shorter"),
        case((), 2, 3, 5, 4, 7, "3 keys, and blocks of 7"),
        rising,
        extreme,
        case((2, 3), 4, 11, 6, 7, 4, "a batch of 2, 3 heads: 4 queries, 11 keys, 4 at a time"),
        case((3,), 7, 37, 8, 11, 16, "a batch of 3: 7 queries, 37 keys, 16 at a time"),
        long,
    ]


def blockwise_attention_in_little_memory(seed: int) -> Case:
    """Draw keys of which all scores take 128 MB, and those of a block one."""
    rng = generator(seed)
    inputs = {"queries": normal(rng, 512, 4), "keys": normal(rng, 65_536, 4), "values": normal(rng, 65_536, 3)}
    return Case({**inputs, "block": 512}, "512 queries and 65,536 keys, 512 at a time", kind="once")


def divides_in_every_block(queries, keys, values, block):
    largest = torch.full_like(queries[..., :1], -torch.inf)
    total, mixture = torch.zeros(()), torch.zeros(())
    for k, v in zip(keys.split(block, dim=-2), values.split(block, dim=-2), strict=True):
        scores = queries @ k.mT / queries.shape[-1] ** 0.5
        new_largest = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))
        correction, exponentials = torch.exp(largest - new_largest), torch.exp(scores - new_largest)
        total = correction * total + exponentials.sum(dim=-1, keepdim=True)
        mixture = (correction * mixture + exponentials @ v) / total
        largest = new_largest
    return mixture


def block_weights():
    return lambda scores, new_largest: scores.softmax(dim=-1)


MISTAKES = [
    Mistake(
        "all_keys_at_once",
        STEPS.but(block=lambda keys: keys.shape[-2]),
        summary="all the keys are used at once",
        message=(
            "The numbers are right, but somewhere the scores of a query with *all* keys are held at once, and with "
            "many keys that is what takes the memory."
        ),
        hints=["What is the largest tensor that is made for 512 keys, and should it depend on their number?"],
    ),
    Mistake(
        "last_block_left_out",
        STEPS.but(starts=lambda keys, block: range(0, keys.shape[-2] // block * block, block)),
        STEPS.but(starts=lambda starts: starts[:-1]),
        summary="the last block is left out",
        message="{summary}, or is left out where it is shorter than the others.",
        hints=["5 keys in blocks of 2: how many blocks are there?"],
    ),
    Mistake(
        "cuts_the_batch",
        STEPS.but(
            block_keys=lambda keys, block: lambda start: keys[start : start + block],
            block_values=lambda values, block: lambda start: values[start : start + block],
        ),
        summary="the axis that is cut into blocks is counted from the front",
        message="{summary}: with another number of axes in front, something else is cut than the keys.",
        hints=["Of keys of shape (2, 3, 11, 6), what does `keys[0:4]` hold?"],
    ),
    Mistake(
        "sums_never_corrected",
        STEPS.but(correction=lambda: lambda largest, new_largest: torch.ones_like(new_largest)),
        summary="the sums so far are not brought to the new maximum",
        message=(
            "Where a block brings a larger score, the sums of the blocks before it still belong to the old maximum. "
            "Either they are not corrected, or the correction is computed when the old maximum is gone."
        ),
        hints=[
            "In which case does it go wrong: where the first block holds the largest score, or where a later one does?"
        ],
    ),
    Mistake(
        "only_the_last_block",
        STEPS.but(
            new_largest=lambda: lambda largest, in_block: in_block,
            correction=lambda: lambda largest, new_largest: torch.zeros_like(new_largest),
        ),
        STEPS.but(correction=lambda: lambda largest, new_largest: torch.zeros_like(new_largest)),
        summary="only the last block counts, and what was summed before it is lost",
        message=(
            "{summary}. Look at what the sums so far are multiplied by: it is 0 where the old maximum is still −∞. Is "
            "the new maximum kept for the next block?"
        ),
        hints=["What is `largest` when the second block begins?"],
    ),
    Mistake(
        "nan_in_the_first_block",
        STEPS.but(correction=lambda: lambda largest, new_largest: torch.exp(new_largest - largest)),
        summary="every number becomes nan in the first block",
        message=(
            "{summary}. The old maximum is −∞ there: `exp` of −∞ is 0, but `exp` of ∞ is ∞, and ∞ · 0 and ∞ − ∞ are "
            "nan. Look at where the old maximum is used, and with which sign."
        ),
        hints=["In the first block, what should the sums so far be multiplied by, and what does your code give?"],
    ),
    Mistake(
        "maximum_of_the_block",
        STEPS.but(new_largest=lambda: lambda largest, in_block: in_block),
        summary="the maximum is that of the newest block, not of all so far",
        message=(
            "Nearly: the maximum is that of the newest block, even where an earlier one had a larger score. Then the "
            "correction is above 1, and overflows for large scores."
        ),
        hints=["In which direction may the maximum change from block to block?"],
    ),
    Mistake(
        "begins_at_zero",
        STEPS.but(start=lambda start: (torch.zeros_like(start[0]), *start[1:])),
        summary="the maximum begins at 0, not at −∞",
        message=(
            "The maximum begins at 0. Where all the scores of a query are far below 0, all its exponentials are 0, and "
            "0/0 is nan."
        ),
        hints=["What is the largest of the scores −1000 and −900, and what is `largest` after that block?"],
    ),
    Mistake(
        "averages_the_blocks",
        STEPS.but(
            exponentials=block_weights,
            correction=lambda: lambda largest, new_largest: torch.ones_like(new_largest),
        ),
        STEPS.but(
            exponentials=block_weights,
            correction=lambda: lambda largest, new_largest: torch.ones_like(new_largest),
            output=lambda sums: sums[0],
        ),
        summary="a softmax is taken in each block, as if all blocks were equally important",
        message=(
            "A softmax is taken in each block by itself, so every block counts as much as any other. A block of small "
            "scores should count for little."
        ),
        hints=["If one block holds all the large scores, how much should the others contribute?"],
    ),
    Mistake(
        "divides_in_every_block",
        divides_in_every_block,
        message=(
            "The weighted sum is divided by the sum of the exponentials in every block, and the next block adds to "
            "the quotient as if it had not been."
        ),
        hints=[
            "After the first block, what does the running sum of the values hold: a sum or an average?",
            "A sum can be corrected and added to. How often should it be divided?",
            "Divide once, after the last block.",
        ],
    ),
]


EXERCISE = Exercise(
    reference=blockwise_attention,
    steps=STEPS,
    stretch=True,
    may_cut_gradients=True,
    cases=blockwise_attention_cases,
    in_little_memory=blockwise_attention_in_little_memory,
    points=4,
    verified="Block after block, with a running maximum and two running sums, and never the whole matrix of scores: "
    "this is the idea of FlashAttention.",
    hints=[
        "Two sums are enough: the sum of the exponentials, and the sum of the values, each times its exponential. "
        "Their quotient is the output. Both can grow block after block.",
        "`exp` overflows unless the largest score is subtracted, and that is known only at the end. So keep the "
        "largest score *so far*, for each query.",
        "When a block brings a larger score, both sums were made with the old maximum. "
        "`torch.exp(largest - new_largest)` is what they are multiplied by.",
        "For each block: `new_largest = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))`, the correction, "
        "`torch.exp(scores - new_largest)`, and both sums: correction · sum so far + what the block adds. "
        "Begin with a maximum of −∞.",
    ],
    messages={
        "sibling_block_largest: scores.sum(dim=-1, keepdim=True)": (
            "Right for ordinary scores. But `exp` of a score above 88 is infinite, and where all are far "
            "below 0, all are 0. Look at what is subtracted from the scores."
        ),
        "all_axes_block_largest": (
            "One maximum serves all queries. Where the scores of one query are far below it, all their "
            "exponentials become 0, and 0/0 is nan."
        ),
        "call_left_out_block_largest": (
            "The maximum has the wrong shape. It should be a column: one number for each query, along the "
            "axis of the keys."
        ),
        "part_left_out_output: sums[0]": (
            "The weighted sum of the values comes out, without the division: the weights do not add up to 1."
        ),
    },
    mistakes=MISTAKES,
)
