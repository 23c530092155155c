"""Transfer: one stack that reads like an encoder and writes like a decoder."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_07_decoder.prefix_mask.answer import STEPS, prefix_mask
from transformer_course.exercises.lesson_07_decoder.prefix_mask.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


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


PREFIX_MASK = Exercise(
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
