"""What goes wrong in the rotation once the frequencies are there: with the offset, the blocks, and where they lie.

Rare ways are given as plain attempts (``.attempt``): they are recognised alone, and meet no other mistake.
"""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.shift_rotation.answer import STEPS, two_by_two


def _in_halves(blocks):
    """Lay the blocks out as if the first members of all pairs came first."""
    rows = [torch.cat([torch.diag(blocks[:, i, 0]), torch.diag(blocks[:, i, 1])], dim=1) for i in (0, 1)]
    return torch.cat(rows)


def _with_own_frequencies(by):
    """Give the lower row of each block the exponent that is larger by so many columns."""

    def blocks(cosines, sines, offset, exponents, power, width):
        lower = offset * power(exponents + by / width)
        return two_by_two(cosines, sines, -lower.sin(), lower.cos())

    return blocks


MISTAKES = [
    Mistake(
        "minus_on_the_diagonal",
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, sines, -cosines)),
        STEPS.but(blocks=lambda cosines, sines: two_by_two(-cosines, sines, sines, cosines)),
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, -sines, -sines, -cosines)),
        does="a minus stands on the diagonal of each block",
        says=(
            "This is a mirror and not a rotation: a minus stands before a cosine. With offset 0 the matrix should "
            "change nothing."
        ),
        hints=["With offset 0, what is each block?"],
    ),
    Mistake(
        "exchanged_in_one_row",
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, -cosines, sines)).attempt,
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, cosines, -sines)),
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, cosines, sines)).attempt,
        STEPS.but(blocks=lambda cosines, sines: two_by_two(sines, cosines, -sines, cosines)),
        does="in one row of each block, sine and cosine have changed places",
        hints=["With offset 0 the matrix has to be the identity. Is it, in both rows?"],
    ),
    Mistake(
        "a_frequency_for_every_column",
        STEPS.but(blocks=_with_own_frequencies(1)),
        STEPS.but(blocks=_with_own_frequencies(2)),
        STEPS.but(two_i=lambda two_i: 2 * two_i, blocks=_with_own_frequencies(2)),
        does="the two rows of a block have different frequencies",
        says="{does}, so that it is no rotation. Look at the exponents of neighbouring rows.",
        hints=["In the formula, i is the same in features 2i and 2i + 1."],
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
    Mistake(
        "torch_of_a_number",
        STEPS.but(cosines=lambda: torch.cos(1.0)),  # type: ignore[arg-type]
        STEPS.but(sines=lambda: torch.sin(1.0)),  # type: ignore[arg-type]
        does="`torch.sin` or `torch.cos` is given a plain number",
        says="`torch.sin` and `torch.cos` take tensors, and the angle is a plain number: it crashes.",
        hints=["What type has the angle?"],
    ),
    Mistake(
        "math_of_a_tensor",
        STEPS.but(cosines=lambda angles: torch.tensor([math.cos(angles)])),
        STEPS.but(sines=lambda angles: torch.tensor([math.sin(angles)])),
        does="a whole tensor is given where a number is asked for, as by `math.sin`",
        says="`math.sin` and `math.cos` take a single number, and several angles come at once: it crashes.",
        hints=["The functions of `math` know nothing of tensors. Which module has functions that do?"],
    ),
]
