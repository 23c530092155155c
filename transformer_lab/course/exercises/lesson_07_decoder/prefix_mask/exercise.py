"""Transfer: one stack that reads like an encoder and writes like a decoder."""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_07_decoder.prefix_mask import mistakes as opening
from transformer_lab.course.exercises.lesson_07_decoder.prefix_mask import mistakes_shape
from transformer_lab.course.exercises.shared.draw_cases import generator
from transformer_lab.course.running.case import Case


def prefix_mask(prefix_lengths: Int[Tensor, " batch"], length: int) -> Bool[Tensor, "batch 1 length length"]:
    """Let every position look at its row's prefix and at what is not later than itself."""
    positions = torch.arange(length)
    in_the_prefix = positions < prefix_lengths[:, None, None, None]  # a statement about keys: (batch, 1, 1, length)
    not_later = positions <= positions[:, None]  # (length, length): column and row
    return in_the_prefix | not_later


def prefix_mask_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def lengths(n: int, length: int) -> Tensor:
        """Draw lengths with a short one in front: the first rows must not pass for all."""
        drawn = torch.randint(3, length - 1, (n,), generator=rng)
        drawn[0] = 2
        return drawn

    return [
        Case({"prefix_lengths": torch.tensor([2]), "length": 4}, "one row of 4, of which 2 are the prefix"),
        Case({"prefix_lengths": torch.tensor([3, 1]), "length": 5}, "2 rows of 5, with prefixes of 3 and 1"),
        Case({"prefix_lengths": torch.tensor([0, 4, 2]), "length": 4}, "no prefix, nothing but prefix, and half"),
        Case({"prefix_lengths": lengths(5, 5), "length": 5}, "as many rows as positions"),
        Case({"prefix_lengths": lengths(7, 13), "length": 13}, "7 rows of 13"),
        Case({"prefix_lengths": lengths(11, 29), "length": 29}, "11 rows of 29"),
    ]


PREFIX_MASK = Exercise(
    reference=prefix_mask,
    cases=prefix_mask_cases,
    points=2,
    stretch=True,
    verified="The prefix is open to everybody, and behind it nobody looks ahead. Next: what it changes, in one layer "
    "and in two.",
    hints=[
        "Draw the table for 4 positions and a prefix of 2. Which entries are True that are not in a causal mask?",
        "A key may be looked at if it belongs to the prefix, *or* if it does not come later than the query.",
        "Whether it belongs to the prefix is a question about the key alone: for one row, `torch.arange(length) < "
        "prefix_length`. For a batch, give the lengths the shape (batch, 1, 1, 1).",
        "`prefix_lengths[:, None, None, None]` has that shape. Join the two conditions by `|`.",
    ],
    mistakes=[*opening.MISTAKES, *mistakes_shape.MISTAKES],
)
