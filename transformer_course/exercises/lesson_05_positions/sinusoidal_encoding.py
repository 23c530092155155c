"""Sinusoidal positional encoding."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.lesson_05_positions.shared.frequency_mistakes import (
    FREQUENCIES,
    frequency_messages,
    frequency_mistakes,
)
from transformer_course.exercises.lesson_05_positions.shared.steps import column, sines, width
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.attention.positions import sinusoidal_encoding


def positions(length):
    """number the positions from 0 → the positions: 0 to length − 1"""
    return torch.arange(length)


def angles(column, frequencies):
    """multiply each position by each frequency → the angles: position times frequency, (length, d_model / 2)"""
    return column * frequencies


def cosines(angles):
    """take the cosines of the angles → the cosines of the angles"""
    return angles.cos()


def encoding(sines, cosines, length, d_model):
    """interleave sines and cosines → the encoding: sines in the even columns, cosines in the odd columns"""
    table = torch.empty(length, d_model)
    table[:, 0::2] = sines
    table[:, 1::2] = cosines
    return table


STEPS = InSteps(positions, width, *FREQUENCIES, column, angles, sines, cosines, encoding, reference=sinusoidal_encoding)


def sinusoidal_encoding_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    bases = [uniform(rng, low, 2 * low) for low in (4.0, 20.0, 3.0)]
    return [
        Case({"length": 3, "d_model": 2}, "3 positions, a single pair of features"),
        Case({"length": 2, "d_model": 4}, "2 positions, 2 pairs"),
        Case({"length": 4, "d_model": 4, "base": bases[0]}, f"4 positions, 2 pairs, base {bases[0]:.1f}"),
        Case({"length": 5, "d_model": 8}, "5 positions, 4 pairs"),
        Case({"length": 3, "d_model": 8, "base": bases[1]}, f"3 positions, 4 pairs, base {bases[1]:.1f}"),
        Case({"length": 41, "d_model": 4, "base": 10000.0}, "41 positions, with a second pair that turns slowly"),
        Case({"length": 61, "d_model": 32, "base": bases[2]}, f"61 positions, 16 pairs, base {bases[2]:.1f}"),
    ]


MISTAKES = [
    Mistake(
        "a_frequency_for_every_column",
        STEPS.but(cosines=lambda column, exponents, power, width: (column * power(exponents + 1 / width)).cos()),
        summary="you use different frequencies for a sine and the cosine next to it",
        message=(
            "{summary}, so sin² + cos² isn't 1 for the pair. A sine and its cosine need the *same* angle. Which "
            "exponents do you use in columns 0 and 1?"
        ),
        hints=["In the formula, which value does i have in columns 2 and 3?"],
    ),
    Mistake(
        "sines_then_cosines",
        STEPS.but(encoding=lambda sines, cosines: torch.cat([sines, cosines], dim=-1)),
        summary="you put all sines in the left half and all cosines in the right half instead of alternating them",
        message=(
            "{summary}. A model can also learn from that layout, but here, row 0 should be 0, 1, 0, 1, … Which columns "
            "hold the sines in the formula?"
        ),
        hints=["Which columns of the encoding should hold sines, and which columns should hold cosines?"],
    ),
    Mistake(
        "frequencies_of_tensor2tensor",
        STEPS.but(exponents=lambda two_i: torch.arange(len(two_i)) / max(len(two_i) - 1, 1)),
        STEPS.but(
            exponents=lambda two_i: torch.arange(len(two_i)) / max(len(two_i) - 1, 1),
            encoding=lambda sines, cosines: torch.cat([sines, cosines], dim=1),
        ),
        summary="you divide i by d_model/2 − 1, so your exponents go up to exactly 1",
        message=(
            "You use tensor2tensor's definition: {summary}. With d_model = 4, they are 0 and 1 instead of 0 and 1/2. "
            "Here, as in the paper, the exponents are 2i/d_model, and sines and cosines alternate."
        ),
        hints=["Which number should you divide 2i by? Which number do you divide by?"],
    ),
]


EXERCISE = Exercise(
    reference=sinusoidal_encoding,
    steps=STEPS,
    cases=sinusoidal_encoding_cases,
    points=2,
    verified="Each pair of features is a wave, a sine and a cosine, from fast to slow.",
    hints=[
        "With d_model = 4, there are two pairs of columns. Which frequency does each pair have?",
        "Each *pair* of columns has one frequency: base^(−2i/d_model) for i = 0, 1, 2, …. `torch.arange(0, "
        "d_model, 2)` returns 0, 2, 4, …, which is already 2i.",
        "Compute all angles as a table, positions down and frequencies across: `torch.arange(length)[:, None] * "
        "frequencies` has shape (length, d_model / 2).",
        "Create an empty table with `torch.empty(length, d_model)`. Write the sines of the angles to its even columns, "
        "`encoding[:, 0::2]`, and the cosines to its odd columns, `encoding[:, 1::2]`.",
    ],
    messages={
        **frequency_messages("d_model"),
        "range_positions: torch.arange(1, length + 1)": Wording(
            "You count the positions from 1, so row 0 holds the encoding of position 1. It should be 0, 1, 0, 1, … At "
            "which number should your range start?",
            summary="you count the positions from 1 instead of 0",
            hints=["What are the sine and the cosine of 0? What is your row 0?"],
        ),
        "inputs_exchanged_encoding: cosines": Wording(
            "{summary}, so row 0 is 1, 0, 1, 0, … instead of 0, 1, 0, 1, … Which function does the formula put in "
            "column 2i?",
            summary="you put the cosines in the even columns and the sines in the odd ones",
            hints=["What are the sine and the cosine of 0? In which order are they in your row 0?"],
        ),
    },
    mistakes=[*frequency_mistakes(STEPS, "d_model"), *MISTAKES],
)
