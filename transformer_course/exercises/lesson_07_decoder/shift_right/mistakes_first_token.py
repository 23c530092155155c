"""What goes wrong with the token in front."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.shift_right.answer import STEPS


def _bos_over_the_first_row(tokens, bos_id):
    shifted = tokens.roll(1, dims=1)
    shifted[0] = bos_id
    return shifted


MISTAKES = [
    Mistake(
        "bos_over_the_first_row",
        STEPS.but(shifted=_bos_over_the_first_row),
        does="bos is written into the first row and not into the first column",
        says=(
            "Bos is written into the first *row*: a whole sentence is lost, and the other rows have none. Look at "
            "the index."
        ),
        hints=["How many bos does a batch of 3 rows need, and where?"],
    ),
    Mistake(
        "bos_twice",
        STEPS.but(begin=lambda begin: begin.repeat(1, 2)),
        does="each row gets bos twice",
        says="{does}, and so is longer than its labels by one token. Look at what is put together.",
        hints=["How many tokens has each row, and how many should it have?"],
    ),
    Mistake(
        "bos_for_one_row",
        STEPS.but(begin=lambda bos_id: torch.tensor([[bos_id]])),
        does="there is a bos for a single row",
    ),
]
