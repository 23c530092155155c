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

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_10_inference.blockwise_attention.answer import STEPS, blockwise_attention
from transformer_course.exercises.lesson_10_inference.blockwise_attention.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


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


BLOCKWISE_ATTENTION = Exercise(
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
    told={
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
