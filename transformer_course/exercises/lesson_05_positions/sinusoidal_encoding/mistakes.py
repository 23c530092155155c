"""What goes wrong in a sinusoidal encoding once the frequencies are there: with positions, waves and columns."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.sinusoidal_encoding.answer import STEPS

MISTAKES = [
    Mistake(
        "a_frequency_for_every_column",
        STEPS.but(cosines=lambda column, exponents, power, width: (column * power(exponents + 1 / width)).cos()),
        does="a sine and the cosine beside it have different frequencies",
        says=(
            "{does}. They should be of the *same* angle: only then is sin² + cos² equal to 1. Look at the exponents of "
            "two neighbouring columns."
        ),
        hints=["In the formula, i is the same in columns 2i and 2i + 1."],
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
]
