"""What goes wrong in a sinusoidal encoding once the frequencies are there: with positions, waves and columns."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.sinusoidal_encoding.answer import STEPS


def _cosines_further_on(by):
    """Make the cosines those of an exponent that is larger by so many columns."""
    return lambda column, exponents, power, width: (column * power(exponents + by / width)).cos()


MISTAKES = [
    Mistake(
        "a_frequency_for_every_column",
        STEPS.but(cosines=_cosines_further_on(1)),
        STEPS.but(cosines=_cosines_further_on(2)),
        STEPS.but(two_i=lambda two_i: 2 * two_i, cosines=_cosines_further_on(2)),
        does="a sine and the cosine beside it have different frequencies",
        says=(
            "{does}. They should be of the *same* angle: only then is sin² + cos² equal to 1. Look at the exponents of "
            "two neighbouring columns."
        ),
        hints=["In the formula, i is the same in columns 2i and 2i + 1."],
    ),
    Mistake(
        "cosines_missing",
        STEPS.but(cosines=lambda angles: torch.zeros_like(angles)),
        does="the odd columns stay 0",
        says="The odd columns are all 0: nothing is written into them. Look at which columns are filled.",
        hints=["Print the result for 3 positions and d_model = 4."],
    ),
    Mistake(
        "cosines_over_the_sines",
        STEPS.but(sines=lambda angles: angles.cos(), cosines=lambda angles: torch.zeros_like(angles)),
        does="the cosines are written over the sines, into the even columns",
        says="The even columns hold cosines, and the odd ones are all 0: the cosines are written over the sines.",
        hints=["Print the result for 3 positions and d_model = 4."],
    ),
    Mistake(
        "waves_of_a_number",
        STEPS.but(sines=lambda: torch.sin(1.0)),  # type: ignore[arg-type]
        STEPS.but(cosines=lambda: torch.cos(1.0)),  # type: ignore[arg-type]
        does="`torch.sin` or `torch.cos` is given a plain number",
        says="`torch.sin` and `torch.cos` take tensors, and the angle is a plain number: it crashes.",
        hints=["What type has the angle?"],
    ),
    Mistake(
        "sines_then_cosines",
        STEPS.but(encoding=lambda sines, cosines: torch.cat([sines, cosines], dim=-1)),
        does="sines and cosines stand in two halves and not side by side",
        says=(
            "First all the sines, then all the cosines: a model can work as well with that, but here each sine stands "
            "beside its cosine. Look at the order of the columns."
        ),
        hints=["Row 0 should be 0, 1, 0, 1, …: is it?"],
    ),
    Mistake(
        "pairs_not_put_side_by_side",
        STEPS.but(encoding=lambda sines, cosines: torch.stack([sines, cosines], dim=-1)),
        STEPS.but(encoding=lambda sines, cosines: torch.stack([sines, cosines])),
        STEPS.but(encoding=lambda sines, cosines: torch.stack([sines, cosines], dim=1)),
        STEPS.but(encoding=lambda sines, cosines: (sines, cosines)),
        does="sines and cosines come out as two tables, or on an axis of their own",
        says="Sines and cosines are not put together into one table: two tables come out, or one axis too many.",
        hints=["What shape is asked for, and what comes out?"],
    ),
    Mistake(
        "scrambled_by_reshaping",
        STEPS.but(
            encoding=lambda sines, cosines, length, d_model: torch.stack([sines, cosines]).reshape(length, d_model)
        ),
        does="numbers of different positions get into one row",
        says=(
            "The shape is right, and rows hold numbers of different positions: reshaping only cuts one long row of "
            "numbers into new rows. Look at the order of the axes before it."
        ),
        hints=["Which number stands behind the first sine before the reshaping?"],
    ),
    Mistake(
        "frequencies_down",
        STEPS.but(angles=lambda angles: angles.T),
        STEPS.but(
            angles=lambda angles: angles.T,
            encoding=lambda sines, cosines: torch.stack([sines, cosines], dim=-1).flatten(1),
        ),
        STEPS.but(angles=lambda angles: angles.T, encoding=lambda sines, cosines: torch.cat([sines, cosines])),
        does="in the table of angles, frequencies go down and positions across",
        says="{does}. Rows should be positions.",
        hints=["Which shape have the angles, and which should they have?"],
    ),
]
