"""Attention in blocks of keys: the idea behind FlashAttention.

The check limits the size of the tensors that PyTorch computes from the queries: in a case with many keys and few
queries, no tensor may be as large as the scores of *one* query with all keys. An answer that makes two passes over the
blocks stays within this limit, and so does an answer that combines the results of all blocks at the end. NumPy is not
monitored: an answer in NumPy passes, with a remark that no gradient flows through it.

The grader cannot trust anything that runs in the same process as an answer. Therefore, it calls a passing answer again
with so many keys that the matrix of all scores exceeds the memory limit of the process.
"""

import dataclasses

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
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
        correction = torch.exp(largest - new_largest)  # rescales the running sums to the new maximum
        exponentials = torch.exp(scores - new_largest)
        total = correction * total + exponentials.sum(dim=-1, keepdim=True)
        mixture = correction * mixture + exponentials @ v
        largest = new_largest
    return mixture / total


def starts(keys, block):
    """start a block at every `block`-th key → the starts of the blocks"""
    return range(0, keys.shape[-2], block)


def block_keys(keys, block):
    """take the next `block` keys → the keys of a block"""
    return lambda start: keys[..., start : start + block, :]


def block_values(values, block):
    """take the next `block` values → the values of a block"""
    return lambda start: values[..., start : start + block, :]


def divisor(queries):
    """take the square root of d_k → √d_k"""
    return queries.shape[-1] ** 0.5


def block_scores(queries, divisor):
    """multiply the queries by the keys of the block and scale → the scores of a block, (…, n_query, block)"""
    return lambda keys: queries @ keys.mT / divisor


def start(queries, values):
    """start with a maximum of −∞ and sums of 0 → the initial maximum and sums"""
    one = queries[..., :1]
    return torch.full_like(one, -torch.inf), torch.zeros_like(one), torch.zeros_like(one) * values[..., :1, :]


def block_largest():
    """find the largest score of each query in the block → the block's maximum for each query"""
    return lambda scores: scores.amax(dim=-1, keepdim=True)


def new_largest():
    """update the running maximum → the running maximum: the largest score of each query so far"""
    return lambda largest, in_block: torch.maximum(largest, in_block)


def exponentials():
    """subtract the running maximum and take `exp` → the exponentials of a block"""
    return lambda scores, new_largest: torch.exp(scores - new_largest)


def correction():
    """take `exp` of old maximum − new maximum → the correction factor: exp(old maximum − new maximum)"""
    return lambda largest, new_largest: torch.exp(largest - new_largest)


def total():
    """correct the running sum and add the block's exponentials → the running sum of the exponentials"""
    return lambda total, correction, exponentials: correction * total + exponentials.sum(dim=-1, keepdim=True)


def mixture():
    """correct the weighted sum and add the block's weighted values → the running weighted sum"""
    return lambda mixture, correction, exponentials, values: correction * mixture + exponentials @ values


def sums(
    start, starts, block_keys, block_values, block_scores, block_largest, new_largest, exponentials, correction, total,
    mixture,
):  # fmt: skip
    """repeat for every block → the two running sums: the weighted values and the exponentials"""
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
    """divide by the sum of the exponentials → the output: the weighted sum over the sum of the exponentials"""
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

    rising = case((), 2, 6, 3, 4, 2, "scores that rise or fall from block to block")
    rising.inputs["keys"].abs_().add_(0.5).mul_((1.0 + rising.inputs["keys"].new_tensor(range(6)))[:, None])
    rising.inputs["queries"].abs_().add_(0.5)[1].neg_()
    extreme = case((), 4, 5, 2, 1, 2, "scores of several thousand that rise or fall")
    sizes = (0.5 + extreme.inputs["keys"].abs()).cumsum(dim=0)
    extreme.inputs["keys"][:, 0], extreme.inputs["keys"][:, 1] = sizes[:, 0], sizes[:, 1].flip(0)
    extreme.inputs["queries"][:] = 1000.0 * torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])
    # One query has 512 scores. A block has far fewer scores, and even the products in a block are far fewer.
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
    """Draw inputs whose full score matrix takes 128 MB, while the scores of one block take 1 MB."""
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


def inverted_correction():
    """Return the factor that grows with the maximum, or 1 in the first block."""
    return lambda largest, new_largest: torch.where(largest.isinf(), 1.0, torch.exp(new_largest - largest))


def invertible(correction, running_sum):
    """Return the correction factor, or 1 in the first block, where the running sum is 0."""
    return torch.where(running_sum == 0, 1.0, correction)


MISTAKES = [
    Mistake(
        "all_keys_at_once",
        STEPS.but(block=lambda keys: keys.shape[-2]),
        summary="you hold the scores of all keys at once",
        message=(
            "Your numbers are right, but you compute the scores of a query with *all* keys at once, which takes the "
            "memory that blocks should save. How many scores per query should exist at the same time?"
        ),
        hints=["With 512 keys and `block=16`, what is the shape of the largest tensor that you create?"],
    ),
    Mistake(
        "last_block_left_out",
        STEPS.but(starts=lambda keys, block: range(0, keys.shape[-2] // block * block, block)),
        STEPS.but(starts=lambda starts: starts[:-1]),
        summary="you leave out the last block",
        message=(
            "{summary}: with 5 keys in blocks of 2, the fifth key gets no weight. Where should the last block start?"
        ),
        hints=["How many blocks of 2 do you need for 5 keys, and how many do you use?"],
    ),
    Mistake(
        "cuts_the_batch",
        STEPS.but(
            block_keys=lambda keys, block: lambda start: keys[start : start + block],
            block_values=lambda values, block: lambda start: values[start : start + block],
        ),
        summary="you slice the blocks along dim 0",
        message=(
            "{summary}. Dim 0 is the key dimension only if there is no batch: for keys of shape (2, 3, 11, 6), you "
            "slice the batch of 2. Which dimension holds the keys in both cases?"
        ),
        hints=["For keys of shape (2, 3, 11, 6), what does `keys[0:4]` contain?"],
    ),
    Mistake(
        "sums_never_corrected",
        STEPS.but(correction=lambda: lambda largest, new_largest: torch.ones_like(new_largest)),
        summary="you don't rescale the running sums to the new maximum",
        message=(
            "When a block contains a larger score, your running sums still use the old maximum, so you add "
            "exponentials of different scales. By which factor should you rescale the sums?"
        ),
        hints=["Is your output wrong if the first block contains the largest score, or if a later block does?"],
    ),
    Mistake(
        "only_the_last_block",
        STEPS.but(
            new_largest=lambda: lambda largest, in_block: in_block,
            correction=lambda: lambda largest, new_largest: torch.zeros_like(new_largest),
        ),
        STEPS.but(correction=lambda: lambda largest, new_largest: torch.zeros_like(new_largest)),
        summary="you keep only the last block and lose the earlier sums",
        message=(
            "{summary}: the earlier blocks contribute 0 to your running sums. What should the sums contain after two "
            "blocks?"
        ),
        hints=["Print your running maximum and your correction factor in the second block. Should the factor be 0?"],
    ),
    Mistake(
        "nan_in_the_first_block",
        STEPS.but(correction=lambda: lambda largest, new_largest: torch.exp(new_largest - largest)),
        summary="your first block makes every number nan",
        message=(
            "{summary}. In the first block, the old maximum is −∞, and exp(∞) · 0 and ∞ − ∞ are nan. Where do you use "
            "the old maximum, and with which sign?"
        ),
        hints=["In the first block, what should you multiply the running sums by? What is your factor there?"],
    ),
    Mistake(
        "maximum_of_the_block",
        STEPS.but(new_largest=lambda: lambda largest, in_block: in_block),
        summary="you use the maximum of the newest block instead of the running maximum",
        message=(
            "{summary}. If an earlier block had a larger score, your correction factor is above 1 and overflows for "
            "large scores. Which two maxima should you compare?"
        ),
        hints=["Can a running maximum decrease from block to block?"],
    ),
    Mistake(
        "begins_at_zero",
        STEPS.but(start=lambda start: (torch.zeros_like(start[0]), *start[1:])),
        summary="you start the maximum at 0 instead of −∞",
        message=(
            "You start the maximum at 0. If all scores of a query are near −1000, all its exponentials underflow to "
            "0, and 0/0 is nan. Which initial maximum is below every score?"
        ),
        hints=[
            "The first block has the scores −1000 and −900. What should the running maximum be? What is it in your "
            "code?"
        ],
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
        summary="you take a separate softmax in each block, so that all blocks count equally",
        message=(
            "You take a separate softmax in each block, so every block counts equally, even a block whose scores are "
            "all 50 below the others. Over which keys should the exponentials be summed before you divide?"
        ),
        hints=["If one block contains all the large scores, how much should the other blocks contribute?"],
    ),
    Mistake(
        "divides_in_every_block",
        divides_in_every_block,
        message=(
            "You divide the weighted sum by the sum of the exponentials in every block, so the next block adds a sum "
            "to an average. How often should you divide?"
        ),
        hints=[
            "After the first block, does your running variable for the values contain a sum or an average?",
            "You can rescale a sum and add to it, but not an average.",
            "Divide once, after the last block.",
        ],
    ),
    Mistake(
        "sum_divided_by_the_correction",
        STEPS.but(
            mixture=lambda: (
                lambda mixture, correction, exponentials, values: (
                    mixture / invertible(correction, mixture) + exponentials @ values
                )
            )
        ),
        STEPS.but(
            total=lambda: (
                lambda total, correction, exponentials: (
                    total / invertible(correction, total) + exponentials.sum(dim=-1, keepdim=True)
                )
            )
        ),
        summary="you divide one of the running sums by the correction factor instead of multiplying it",
        message=(
            "{summary}. When the maximum increases, the factor is below 1 and the old sum should shrink, but yours "
            "grows. What do you do with the other running sum?"
        ),
        hints=["If the maximum increases from 1 to 3, by which factor are the old exponentials too large?"],
    ),
    Mistake(
        "correction_inverted",
        STEPS.but(correction=inverted_correction),
        summary="your correction factor is inverted",
        message=(
            "{summary}: when the maximum increases, the old sums should shrink, but yours grow. Which maximum should "
            "you subtract from the other?"
        ),
        hints=["If the maximum increases from 1 to 3, by which factor are the old exponentials too large?"],
    ),
]


EXERCISE = Exercise(
    reference=blockwise_attention,
    steps=STEPS,
    may_cut_gradients=True,
    cases=blockwise_attention_cases,
    low_memory_case=blockwise_attention_in_little_memory,
    points=4,
    verified="You go through the keys in blocks, with a running maximum and two running sums, and never hold the full "
    "score matrix. This is the idea of FlashAttention.",
    hints=[
        "Write the softmax of 4 scores as a quotient. Which two sums does the output need, and can you add to both "
        "after each block of 2 keys?",
        "The output is the sum of the values, each times its exponential, over the sum of the exponentials. `exp` "
        "overflows unless you subtract the maximum, so keep the running maximum of each query as well.",
        "When the maximum increases, both running sums still use the old one. Multiply them by `torch.exp(largest - "
        "new_largest)`.",
        "For each block: `new_largest = torch.maximum(largest, scores.amax(dim=-1, keepdim=True))`, the correction, "
        "`torch.exp(scores - new_largest)`, and both sums as correction · running sum + this block's sum. "
        "Start with a maximum of −∞.",
    ],
    messages={
        "sibling_block_largest: scores.sum(dim=-1, keepdim=True)": Wording(
            "You don't subtract the maximum, so `exp` can overflow, or all exponentials of a query can underflow to "
            "0, and then 0/0 is nan. Which number makes every exponent 0 or less?",
            summary="you don't subtract the maximum of the scores",
        ),
        "all_axes_block_largest": Wording(
            "{summary}. If the scores of one query are far below that maximum, all its exponentials underflow to 0, "
            "and 0/0 is nan. Over which `dim` should you take the maximum?",
            summary="you use one maximum for all queries",
        ),
        "call_left_out_block_largest": Wording(
            "{summary}, so your maximum has one number for each key in the block. It should have one number for each "
            "query, with shape (…, n_query, 1). What should you compute from the scores first?",
            summary="you compare the running maximum with every score of a block",
        ),
        "part_left_out_output: sums[0]": Wording(
            "You return the weighted sum of the values without dividing it by the sum of the exponentials, so the "
            "weights don't sum to 1. Which running sum should you divide by?",
            summary="you never divide by the running sum of the exponentials",
        ),
        "part_left_out_total: total": Wording(
            "{summary}, so your denominator is too large after the maximum increases. What do you multiply the "
            "weighted sum by?",
            summary="you don't rescale the running sum of the exponentials to the new maximum",
        ),
        "part_left_out_mixture: mixture": Wording(
            "{summary}, so your numerator is too large after the maximum increases. What do you multiply the sum of "
            "the exponentials by?",
            summary="you don't rescale the running weighted sum to the new maximum",
        ),
        "wrong_input_divisor: values": Wording(
            "{summary}: with d_k = 64 and d_v = 16, you divide by 4 instead of 8. A score is the dot product of a "
            "query and a key. How many products does it add up?",
            summary="you divide the scores by √d_v",
        ),
        "part_left_out_exponentials: scores": Wording(
            "{summary}, so large scores overflow, and the correction factor no longer matches your exponentials. "
            "Which number makes every exponent 0 or less?",
            summary="you take `exp` of the scores without subtracting the running maximum",
        ),
        "part_left_out_divisor: queries.shape[-1]": Wording(
            "You divide the scores by d_k, so the scores become too small and the weights too uniform. What should you "
            "divide by to bring the variance of the scores to 1?",
            summary="you divide the scores by d_k instead of √d_k",
        ),
        "part_left_out_block_scores: queries @ keys.mT": Wording(
            "{summary}. For wide vectors, your scores become so large that a single key gets nearly all the weight. "
            "How does the variance of a score grow with d_k?",
            summary="you don't divide the scores by √d_k",
        ),
    },
    mistakes=MISTAKES,
)
