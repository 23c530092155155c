"""Who may look at whom where nobody may look ahead."""

import torch
from jaxtyping import Bool
from torch import Tensor

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_04_masks.causal_mask.mistakes import MISTAKES
from transformer_lab.course.exercises.shared.draw_cases import generator
from transformer_lab.course.running.case import Case


def causal_mask(length: int) -> Bool[Tensor, "length length"]:
    """Let every position look at itself and at what came before: True at row i, column j if j ≤ i."""
    return torch.ones(length, length, dtype=torch.bool).tril()


def causal_mask_cases(seed: int) -> list[Case]:
    short, middle, long = torch.randint(4, 40, (3,), generator=generator(seed)).sort().values.tolist()
    lengths = [3, 1, short, middle + 1, long + 2]  # no two alike
    return [Case({"length": n}, f"{n} position{'s' if n > 1 else ''}") for n in lengths]


CAUSAL_MASK = Exercise(
    reference=causal_mask,
    cases=causal_mask_cases,
    points=1,
    verified="Each row may look at itself and to its left; the triangle above the diagonal is forbidden. "
    "Next: see whether one run now does the work of many.",
    hints=[
        "Write the table for 3 positions by hand. Row i is a query, column j a key. Which of the nine are True?",
        "A comparison gives booleans. `torch.arange(length)` numbers the positions; what must be true of i and j?",
        "Either compare `positions[None, :]` (keys) with `positions[:, None]` (queries), or take a table of True, "
        "`torch.ones(length, length, dtype=torch.bool)`, and keep its lower triangle with `.tril()`.",
    ],
    mistakes=MISTAKES,
)
