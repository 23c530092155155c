"""What a decoder is fed while it learns: what it should predict, one position later."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_07_decoder.shift_right.answer import STEPS, shift_right
from transformer_course.exercises.lesson_07_decoder.shift_right.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


def shift_right_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def draw(*shape: int) -> Tensor:
        """Draw tokens from 10 to 99, of which neighbours always differ."""
        steps = torch.randint(1, 90, shape, generator=rng)
        return 10 + steps.cumsum(dim=0).cumsum(dim=1) % 90

    padded = draw(2, 5)
    padded[0, 3], padded[0, 4:] = 2, 0
    padded[1, 1], padded[1, 2:] = 2, 0
    return [
        Case({"tokens": draw(1, 3), "bos_id": 1}, "one row of 3 tokens"),
        Case({"tokens": torch.tensor([[8, 5, 5, 8]]), "bos_id": 5}, "a bos_id of 5, which is among the tokens"),
        Case({"tokens": torch.tensor([[7, 4, 9], [6, 8, 3]]), "bos_id": 7}, "a row that begins with the bos_id"),
        Case({"tokens": draw(3, 1), "bos_id": 2}, "3 rows of a single token"),
        Case({"tokens": padded, "bos_id": 3}, "2 rows of different lengths, each with its end, 2, and padded with 0"),
        Case({"tokens": draw(4, 4), "bos_id": 0}, "a bos_id of 0, and as many rows as columns"),
        Case({"tokens": draw(11, 17), "bos_id": 9}, "11 rows of 17 tokens"),
    ]


SHIFT_RIGHT = Exercise(
    reference=shift_right,
    steps=STEPS,
    cases=shift_right_cases,
    points=2,
    verified="Every position is fed what comes before the token that it should predict.",
    hints=[
        "Write it down for one row: the labels are `[5, 6, 7]`, and bos is 1. What should come out?",
        "Two pieces side by side: a column of bos, one for each row, and all the columns but the last.",
        "`tokens[:, :-1]` is all but the last column. `torch.full((batch, 1), bos_id)` is a column of bos, and "
        "`torch.cat([a, b], dim=1)` puts two tables side by side.",
    ],
    told={
        "parts_exchanged_begin": (
            "There is a bos for a single row. Each row of the batch needs one of its own, below each other."
        ),
    },
    mistakes=MISTAKES,
)
