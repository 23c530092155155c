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
    Mistake(
        "padding_forgotten",
        STEPS.but(keys=lambda keys: torch.ones_like(keys)),
        STEPS.but(both=lambda not_later: not_later[None, None]),
        does="padding is not hidden",
        says="This is the causal mask alone: `pad_id` has no effect, so padding may be attended to. Look for its mask.",
        hints=["For a sentence that ends in padding, what does the last column say?"],
    ),
    Mistake(
        "tokens_for_their_number",
        STEPS.but(n=lambda tokens: tokens),
        does="the tokens are handed on where their number is needed",
        says="It crashes: the causal mask is made from the tokens themselves, where it needs their number.",
        hints=["Print what you hand to `causal_mask`. What does its signature ask for?"],
    ),
    *padding_mistakes.which_tokens(STEPS),
]
