"""What goes wrong when the losses of tokens become one number."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_09_language_model.next_token_loss.answer import STEPS

MISTAKES = [
    Mistake(
        "counts_the_padding",
        [STEPS.but(real=lambda targets: torch.ones_like(targets, dtype=torch.bool))],
        does="padding is counted like any other token",
        says=(
            "Padding is counted: the model is asked to predict it, and the loss depends on how much of it a batch "
            "happens to have."
        ),
        hints=[
            "Append a column of padding to the tokens. Should the loss change?",
            "Where the target is `pad_id`, nothing is asked of the model.",
            "Take the mean of `losses[targets != pad_id]`, or give `ignore_index` to torch's function.",
        ],
    ),
]
