"""What goes wrong in one step of attention in Luong's order, once there is a context."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_00_bottleneck.luong_step.answer import STEPS

MISTAKES = [
    Mistake(
        "reshapes_w_c",
        STEPS.but(matrix=lambda w_c: w_c.reshape(w_c.shape[1], w_c.shape[0])),
        does="the numbers of W_c are read in their old order along exchanged axes",
        says=(
            "The shape is that of the transposed W_c, and the numbers are not: `reshape` and `view` only break the "
            "same sequence of numbers into other rows."
        ),
        hints=["Print `torch.arange(6).reshape(2, 3)`, its `.reshape(3, 2)` and its `.T`."],
    ),
    Mistake(
        "half_of_w_c",
        STEPS.but(both=lambda context: torch.cat([context, torch.zeros_like(context)], dim=-1)),
        STEPS.but(both=lambda context, state: torch.cat([torch.zeros_like(context), state], dim=-1)),
        STEPS.but(both=lambda context, state: torch.cat([context + state, torch.zeros_like(context)], dim=-1)),
        does="only one half of W_c is used",
        says=(
            "Only half of W_c is used: the context or the state is left out, or the two are added to each other. Both "
            "should pass through W_c, each through its own half."
        ),
        hints=["Does the result change with every column of `w_c`?"],
    ),
]
