"""What goes wrong in one step of a recurrent neural network."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_00_bottleneck.rnn_step.answer import STEPS

MISTAKES = [
    Mistake(
        "reshapes_u",
        STEPS.but(u_columns=lambda u: u.reshape(u.shape[1], u.shape[0])),
        does="the numbers of U are read in their old order along exchanged axes",
        says=(
            "The shape is that of the transposed U, but its numbers are in the wrong places: `reshape` and `view` only "
            "cut the same sequence of numbers into other rows."
        ),
        hints=["Print `torch.arange(6).reshape(2, 3)`, its `.reshape(3, 2)` and its `.T`."],
    ),
    Mistake(
        "tanh_of_one_term",
        STEPS.but(squashed=lambda kept, read: torch.tanh(kept) + read),
        STEPS.but(squashed=lambda kept, read: kept + torch.tanh(read)),
        STEPS.but(squashed=lambda kept, read: torch.tanh(kept) + torch.tanh(read)),
        does="the tanh is taken of the terms one by one, before they are added",
        says="{does}, or of one term only. Look at the parentheses: a single tanh goes around the whole sum.",
        hints=["Can your result be larger than 1? Can a tanh?"],
    ),
]
