"""What goes wrong when a bias is looked up by offset."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.relative_bias.answer import STEPS

MISTAKES = [
    Mistake(
        "clamps_to_other_bounds",
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(0, reach)),
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(-reach, reach - 1)),
        does="the offsets are cut off at other bounds than −reach and reach",
        says=(
            "Offsets are cut off where the table still goes on: the bounds are not −reach and reach. Look at these two "
            "bounds."
        ),
        hints=["A table for the offsets −2 … 2: what should become of −1, of 2, and of 3?"],
    ),
    Mistake(
        "nothing_beyond_the_table",
        STEPS.but(bias=lambda bias, offsets, reach: bias * (offsets.abs() <= reach)),
        STEPS.but(bias=lambda bias, offsets, reach: bias.masked_fill(offsets.abs() > reach, -torch.inf)),
        does="keys beyond the table do not take its last entry: they get 0, or are hidden",
        says="Offsets beyond the table get no entry of it at all. They should take the last one on their side.",
        hints=["What should an offset of 5 find in a table that ends at 4?"],
    ),
    Mistake(
        "hides_the_future",
        STEPS.but(bias=lambda bias, offsets: bias.masked_fill(offsets > 0, -torch.inf)),
        does="keys after the query get no entry of the table",
        says="{does}. It has columns for them; what may be seen at all is for a mask to say.",
        hints=["What is the right half of the table for?"],
    ),
]
