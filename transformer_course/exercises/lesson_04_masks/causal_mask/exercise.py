"""Which keys each query may attend to where none may attend ahead."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_04_masks.causal_mask.answer import STEPS, causal_mask
from transformer_course.exercises.lesson_04_masks.causal_mask.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


def causal_mask_cases(seed: int) -> list[Case]:
    short, middle, long = torch.randint(4, 40, (3,), generator=generator(seed)).sort().values.tolist()
    lengths = [3, 1, 2, short, middle + 1, long + 130]  # no two alike, and one longer than a table made in advance
    return [Case({"length": n}, f"{n} position{'s' if n > 1 else ''}") for n in lengths]


CAUSAL_MASK = Exercise(
    reference=causal_mask,
    steps=STEPS,
    cases=causal_mask_cases,
    points=1,
    verified="Each row may attend to itself and to its left; the triangle above the diagonal is forbidden.",
    hints=[
        "Write the table for 3 positions by hand. Row i is a query, column j a key. Which of the nine are True?",
        "A comparison gives booleans. `torch.arange(length)` numbers the positions; what must be true of i and j?",
        "Either compare `positions[None, :]` (keys) with `positions[:, None]` (queries), or take a table of True, "
        "`torch.ones(length, length, dtype=torch.bool)`, and keep its lower triangle with `.tril()`.",
    ],
    told={
        "sibling_allowed": (
            "The first row is True everywhere: the first position sees the whole future, and the last one "
            "only itself. Rows and columns seem to have changed places."
        ),
        "first_false_mask": (
            "The first row is all False: the first position may attend to nothing, not even to itself. Look "
            "at where the rows begin."
        ),
        "last_false_mask": (
            "The last row is all False: the last position may attend to nothing. Look at where the rows end."
        ),
        "option_left_out_table: torch.ones(length, dtype=torch.bool)": (
            "A triangle needs rows and columns, and the table has one axis only: it crashes. Look at how the "
            "table is made."
        ),
    },
    mistakes=MISTAKES,
)
