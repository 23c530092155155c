"""What goes wrong in a softmax at the sum: with its axis, and with the division."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.softmax.answer import STEPS

MISTAKES = [
    Mistake(
        "sums_over_everything",
        STEPS.but(total=lambda exponentials: exponentials.sum()),
        STEPS.but(largest=lambda scores: scores.max(), total=lambda exponentials: exponentials.sum()),
        does="the sum runs over *all* rows",
        says=(
            "Only the whole table adds up to 1: {does}. Each row should add up to 1 by itself. Look at what `.sum()` "
            "adds up."
        ),
        hints=["For 2 rows of weights, what should each row add up to? What does it?"],
    ),
    Mistake(
        "first_axis",
        STEPS.but(axis=lambda: 0),
        STEPS.but(total=lambda exponentials: exponentials.sum(dim=0)),
        does="the sum runs along the first axis, not along the last",
        says=(
            "It is along the first axis that numbers are added up and divided, down the columns of a table and not "
            "along its rows. Look at which axis is normalised."
        ),
        hints=["Print `softmax(scores).sum(dim=-1)` for 2 rows of 4 scores."],
    ),
    Mistake(
        "no_division",
        STEPS.but(shares=lambda exponentials: exponentials),
        does="the exponentials are not divided by the sum of their row",
        says="The numbers are positive, and rows do not add up to 1: the exponentials are not divided by their sum.",
        hints=["Print the row sums of what is returned."],
    ),
    Mistake(
        "no_axis_named",
        STEPS.but(axis=lambda scores: 0 if scores.dim() in (0, 1, 3) else 1),
        does="the axis of the softmax is the first or the second, by the number of axes",
        says=(
            "Right for one row and for one table; with a batch in front, it is the first axis that adds up to 1. That "
            "is the axis torch chooses when none is named (and it warns of it)."
        ),
        hints=["What do the rows add up to, for scores of shape (5, 3, 2)?"],
    ),
    Mistake(
        "rows_in_a_loop",
        STEPS.but(
            shares=lambda scores: torch.stack(
                [torch.exp(row - row.max()) / torch.exp(row - row.max()).sum() for row in scores]
            )
        ),
        STEPS.but(shares=lambda scores: torch.stack([torch.exp(row) / torch.exp(row).sum() for row in scores])),
        does="what is taken for one row is each entry along the *first* axis",
        says=(
            "Right for one table only: what is taken for a row is each entry along the *first* axis. Of a single row "
            "that is one number, and of a batch a whole table. Look for a way that needs no loop over the rows."
        ),
        hints=["What is one `row` of `for row in scores` when scores have the shape (3,)? And (5, 3, 2)?"],
    ),
]
