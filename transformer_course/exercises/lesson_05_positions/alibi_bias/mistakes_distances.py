"""What goes wrong in an ALiBi bias with the distances, and with the axes and the sign at the end."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.alibi_bias.answer import STEPS

MISTAKES = [
    Mistake(
        "ignores_the_past",
        STEPS.but(distances=lambda offsets: (-offsets).clamp(min=0)),
        does="keys before the query get no bias",
        says="{does}. Distance counts in both directions here.",
        hints=["Is the distance from 2 to 5 different from that from 5 to 2?"],
    ),
    Mistake(
        "triangle_at_the_first_key",
        STEPS.but(distances=lambda distances: distances.tril()),
        STEPS.but(bias=lambda bias: bias.masked_fill(torch.ones(bias.shape[1:], dtype=torch.bool).triu(1), -torch.inf)),
        does="keys are left out by a triangle that begins at the first query and the first key",
        says=(
            "Keys are left out by a triangle, and it begins at the first key. Distance counts in both directions "
            "here; what may be seen at all is for a mask to say."
        ),
        hints=["With 2 queries and 5 keys, which entries does the triangle leave?"],
    ),
    Mistake(
        "heads_last",
        STEPS.but(penalties=lambda slopes, distances: distances[:, :, None] * slopes),
        STEPS.but(penalties=lambda slopes, distances: distances[:, None, :] * slopes[:, None]),
        does="the heads are not the first axis",
        says="{does}; they should be. Look at where each new axis stands.",
        hints=["What shape is asked for?"],
    ),
]
