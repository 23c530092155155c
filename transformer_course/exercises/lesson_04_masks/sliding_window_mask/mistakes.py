"""What goes wrong when a window slides."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.sliding_window_mask.answer import STEPS


def slices_from_below_zero(length, window):
    """Fill each row from a place that may be below 0, and so is counted from the end."""
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        mask[i, i - window + 1 : i + 1] = True
    return mask


MISTAKES = [
    Mistake(
        "without_the_position_itself",
        STEPS.but(not_ahead=lambda back: back > 0, near=lambda back, window: back <= window),
        does="the window begins one position before the query",
    ),
    Mistake(
        "never_the_first",
        STEPS.but(mask=lambda mask, positions: mask & (positions > 0)),
        does="the column of the first position is set to False",
        says=(
            "No position sees the first one, not even itself: the first column is False. Look at the smallest index "
            "that a slice, or a `max`, allows."
        ),
        hints=["What does the first row say?"],
    ),
    Mistake(
        "in_blocks",
        STEPS.but(near=lambda positions, window: positions[:, None] // window == positions // window),
        does="the sequence is cut into blocks, and only the query's own block is near",
        says=(
            "The sequence is cut into blocks, and each position sees its own block only. The first of each block sees "
            "nothing before it. The window should move along with the query."
        ),
        hints=["With a window of 2, what should position 2 see?"],
    ),
    Mistake(
        "indices_below_zero",
        STEPS.but(mask=slices_from_below_zero),
        does="the window of the first rows begins below 0, and such an index counts from the end",
        says=(
            "The first rows go wrong: the window begins before the first position there, and an index below 0 counts "
            "from the end. Look at where the window of the first rows begins."
        ),
        hints=["`row[-1:1]` and `row[-1]` of a row of 4: which places are these?"],
    ),
]
