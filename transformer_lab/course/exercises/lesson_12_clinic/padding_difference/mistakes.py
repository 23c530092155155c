"""What goes wrong when a model is run with padding and without."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_12_clinic.padding_difference.answer import STEPS
from transformer_lab.course.exercises.shared.difference_mistakes import of_the_largest_difference
from transformer_lab.course.exercises.shared.mode_mistakes import of_the_mode

MISTAKES = [
    Mistake(
        "pads_compared_too",
        [STEPS.but(differences=lambda all_differences: all_differences)],
        does="outputs at padding are compared, too",
        says=(
            "The outputs at padding are compared, too. Nothing is ever read from there, so a healthy model may say "
            "anything, nan too. Look at which positions are compared."
        ),
        hints=[
            "Some of the texts have padding of their own. What should a model say there?",
            "Only the real tokens count.",
            "Index the differences by `tokens != pad_id`.",
        ],
    ),
    Mistake(
        "pads_to_the_right",
        [
            STEPS.but(longer=lambda pads, tokens: torch.cat([tokens, pads], dim=1)),
            STEPS.but(
                longer=lambda pads, tokens: torch.cat([tokens, pads], dim=1),
                padded=lambda logits, tokens: logits[:, : tokens.shape[1]],
            ),
        ],
        does="the pads are put to the right of the tokens",
        says=(
            "The pads are put to the *right*. Behind a causal mask no token sees them there, and none has another "
            "position. Look at the order in which the two are put together."
        ),
        hints=[
            "Print the longer texts. Where are the pads?",
            "In `torch.cat`, what comes first stands on the left.",
            "`torch.cat([pads, tokens], dim=1)`.",
        ],
    ),
    Mistake(
        "zeros_as_pads",
        [STEPS.but(pads=lambda shape: torch.zeros(shape, dtype=torch.int64))],
        does="the pads are token 0, whatever `pad_id` is",
        says="The pads are token 0, which is a real one where `pad_id` is another. Look at what fills the pads.",
        hints=[
            "In most cases `pad_id` is not 0. Which tokens are put to the left?",
            "Which id is that of padding, is an argument.",
            "`torch.full((len(tokens), n_pads), pad_id)`.",
        ],
    ),
    *of_the_largest_difference(STEPS),
    *of_the_mode(STEPS, "largest"),
]
