"""What goes wrong in what is returned."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.route.answer import STEPS


def table(logits, weights, experts):
    """Return a table of all experts, with the weight 0 where an expert is not chosen."""
    return torch.zeros_like(logits).scatter(-1, experts, weights)


MISTAKES = [
    Mistake(
        "a_weight_for_every_expert",
        STEPS.but(output=lambda logits, weights, experts: (table(logits, weights, experts), experts)),
        STEPS.but(output=table),
        does="the weights have a column for every expert, 0 where it is not chosen",
        says=(
            "The weights have a column for every expert, most of them 0. Asked for are k of them, in the order of the "
            "chosen experts. Look at the shape of the weights."
        ),
        hints=["Which shape is asked for, and which comes out?"],
    ),
]
