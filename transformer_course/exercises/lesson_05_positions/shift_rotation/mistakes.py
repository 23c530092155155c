"""What goes wrong in the rotation once the frequencies are there: with the blocks, and where they lie."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.shift_rotation.answer import STEPS, two_by_two


def _in_halves(blocks):
    """Lay the blocks out as if the first members of all pairs came first."""
    rows = [torch.cat([torch.diag(blocks[:, i, 0]), torch.diag(blocks[:, i, 1])], dim=1) for i in (0, 1)]
    return torch.cat(rows)


MISTAKES = [
    Mistake(
        "minus_on_the_diagonal",
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, sines, -cosines)),
        does="a minus stands on the diagonal of each block",
        says=(
            "This is a mirror and not a rotation: a minus stands before a cosine. With offset 0 the matrix should "
            "change nothing."
        ),
        hints=["With offset 0, what is each block?"],
    ),
    Mistake(
        "for_sines_then_cosines",
        STEPS.but(rotation=_in_halves),
        does="features are paired half the width apart, as if all sines came first",
        says=(
            "This would move an encoding with all sines first and all cosines after them. Here each sine stands beside "
            "its cosine: look at which columns belong together."
        ),
        hints=["Which columns of `sinusoidal_encoding` have the same frequency?"],
    ),
]
