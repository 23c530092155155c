"""Transfer: one stack that reads like an encoder and writes like a decoder."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def prefix_mask(prefix_lengths: Int[Tensor, " batch"], length: int) -> Bool[Tensor, "batch 1 length length"]:
    """Let every position look at its row's prefix and at what is not later than itself."""
    positions = torch.arange(length)
    in_the_prefix = positions < prefix_lengths[:, None, None, None]  # a statement about keys: (batch, 1, 1, length)
    not_later = positions <= positions[:, None]  # (length, length): column and row
    return in_the_prefix | not_later


def keys(length):
    """count the positions of the keys, in a row → the positions of the keys, as a row"""
    return torch.arange(length)


def queries(length):
    """count the positions of the queries, in a column → the positions of the queries, as a column"""
    return torch.arange(length)[:, None]


def lengths(prefix_lengths):
    """give the lengths three more axes, for heads, queries and keys → the lengths of the prefixes, (batch, 1, 1, 1)"""
    return prefix_lengths[:, None, None, None]


def in_the_prefix(keys, lengths):
    """find the keys that are in the prefix → the mask of the keys in the prefix"""
    return keys < lengths


def not_later(keys, queries):
    """find the keys that are not later than the query → the mask of the keys that are not later than the query"""
    return keys <= queries


def mask(in_the_prefix, not_later):
    """open what is either → the mask: in the prefix, or not later than the query"""
    return in_the_prefix | not_later


STEPS = InSteps(keys, queries, lengths, in_the_prefix, not_later, mask, reference=prefix_mask)


def prefix_mask_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def lengths(n: int, length: int) -> Tensor:
        """Draw lengths with a short one in front: the first rows must not pass for all."""
        drawn = torch.randint(4, length - 1, (n,), generator=rng)
        drawn[0] = 3
        return drawn

    return [
        Case({"prefix_lengths": torch.tensor([2]), "length": 4}, "one row of 4, of which 2 are the prefix"),
        Case({"prefix_lengths": torch.tensor([3, 1]), "length": 5}, "2 rows of 5, with prefixes of 3 and 1"),
        Case({"prefix_lengths": torch.tensor([2, 4]), "length": 5}, "2 rows of 5, with prefixes of 2 and 4"),
        Case({"prefix_lengths": torch.tensor([0, 4, 2]), "length": 4}, "no prefix, nothing but prefix, and half"),
        Case({"prefix_lengths": lengths(7, 7), "length": 7}, "as many rows as positions"),
        Case({"prefix_lengths": lengths(5, 13), "length": 13}, "5 rows of 13"),
        Case({"prefix_lengths": lengths(11, 29), "length": 29}, "11 rows of 29"),
    ]


MISTAKES = [
    Mistake(
        "upper_triangle",
        STEPS.but(not_later=lambda keys, queries: keys >= queries),
        STEPS.but(not_later=lambda keys, queries: keys > queries),
        summary="the causal half opens the future and hides the past",
        message="Behind the prefix, it is the future that is open, and the past that is hidden.",
        hints=["What does the last row say, and what should it?"],
    ),
    Mistake(
        "no_axis_for_the_heads",
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths[:, None, None]),
        summary="the axis for the heads is missing",
        message="{summary}: (batch, length, length) would be stretched along the wrong axes.",
        hints=["Which shape have the scores of all heads of a batch?"],
    ),
    Mistake(
        "lengths_meet_positions",
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths[:, None]),
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths, mask=lambda mask: mask[None, None]),
        summary="the lengths are matched with positions and not with the rows of the batch",
        message="{summary}, which works only if there is one of them, or as many. Look at the axes.",
        hints=["What shape have the lengths, and along which axis of the result should they lie?"],
    ),
]

EXERCISE = Exercise(
    reference=prefix_mask,
    steps=STEPS,
    cases=prefix_mask_cases,
    points=2,
    stretch=True,
    verified="The prefix is open to all positions, and after it none attends ahead.",
    hints=[
        "Draw the table for 4 positions and a prefix of 2. Which entries are True that are not in a causal mask?",
        "A key may be attended to if it belongs to the prefix, *or* if it does not come later than the query.",
        "Whether it belongs to the prefix is a question about the key alone: for one row, `torch.arange(length) < "
        "prefix_length`. For a batch, give the lengths the shape (batch, 1, 1, 1).",
        "`prefix_lengths[:, None, None, None]` has that shape. Join the two conditions by `|`.",
    ],
    mistakes=MISTAKES,
)
