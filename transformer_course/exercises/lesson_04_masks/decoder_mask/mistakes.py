"""What goes wrong when padding and the future are hidden at once."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.decoder_mask.answer import STEPS
from transformer_course.exercises.shared import padding_mistakes

MISTAKES = [
    Mistake(
        "either_will_do",
        STEPS.but(sign=lambda: torch.logical_or),
        does="it is enough that one of the two conditions holds",
        says=(
            "A key may be attended to if it is real *or* not later: every real token of the future is visible, and so "
            "is padding in the past. Look at how the two are joined."
        ),
        hints=["What does the first row of the first sentence say?"],
    ),
    *padding_mistakes.which_tokens(STEPS),
]
