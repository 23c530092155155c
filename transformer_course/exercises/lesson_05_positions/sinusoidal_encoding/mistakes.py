"""What goes wrong in a sinusoidal encoding once the frequencies are there: with positions, waves and columns."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.sinusoidal_encoding.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import in_float64, of_the_result


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
        "cosines_first",
        STEPS.but(sines=lambda angles: angles.cos(), cosines=lambda angles: angles.sin()),
        does="sines and cosines have changed places",
    ),
    Mistake(
        "nothing_but_sines",
        STEPS.but(cosines=lambda angles: angles.sin()),
        does="the odd columns hold sines, too",
    ),
    Mistake(
        "nothing_but_cosines",
        STEPS.but(sines=lambda angles: angles.cos()),
        does="the even columns hold cosines, too",
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
        "minus_before_a_sine",
        STEPS.but(sines=lambda angles: -angles.sin()),
        does="the sines have a minus",
    ),
    Mistake(
        "minus_before_a_cosine",
        STEPS.but(cosines=lambda angles: -angles.cos()),
        does="the cosines have a minus",
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
        "math_of_a_tensor",
        STEPS.but(sines=lambda angles: math.sin(angles)),
        STEPS.but(cosines=lambda angles: math.cos(angles)),
        does="a whole tensor is given where a number is asked for, as by `math.sin`",
        says="`math.sin` and `math.cos` take a single number, and the angles are a tensor: it crashes.",
        hints=["The functions of `math` know nothing of tensors. Which module has functions that do?"],
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
        "columns_overlap",
        STEPS.but(
            encoding=lambda sines, cosines, width: torch.cat(
                [sines, cosines[:, -1:], sines.new_zeros(len(sines), width // 2 - 1)], dim=1
            )
        ),
        does="pair i is written into columns i and i + 1, so each pair writes over the one before",
        says=(
            "Only the last cosine is left, and the columns after it are empty: each pair begins one column after the "
            "one before, and writes over it. Look at the index of the columns."
        ),
        hints=["Which columns belong to pair 0, and which to pair 1?"],
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
        "only_the_angles",
        STEPS.but(encoding=lambda angles: angles.repeat_interleave(2, dim=-1)),
        STEPS.but(encoding=lambda angles: torch.cat([angles, angles], dim=-1)),
        does="the angles themselves come out, each twice",
        says="These are the angles, each twice. Sine and cosine have not been taken of them.",
        hints=["What is in the row of position 0, and what are sin 0 and cos 0?"],
    ),
    Mistake(
        "sines_and_cosines_added",
        STEPS.but(encoding=lambda sines, cosines: sines + cosines),
        does="sines and cosines are added up",
        says="Sines and cosines are added to each other. Each should have a column of its own.",
        hints=["What shape is asked for, and what comes out?"],
    ),
    Mistake(
        "positions_in_no_column",
        STEPS.but(column=lambda positions: positions),
        does="positions and frequencies are multiplied entry by entry, and not each with each",
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
    Mistake(
        "counts_from_one",
        STEPS.but(positions=lambda length: torch.arange(1, length + 1)),
        does="positions are counted from 1",
    ),
    Mistake(
        "positions_as_fractions",
        STEPS.but(positions=lambda length: torch.arange(length) / length),
        STEPS.but(positions=lambda length: torch.linspace(0, 1, length)),
        STEPS.but(positions=lambda positions, d_model: positions / d_model),
        does="the positions are divided by a number",
        says=(
            "The first pair already turns too slowly: the positions are divided by something, so that they are "
            "fractions."
        ),
        hints=["At position 1 the first feature should be sin 1 = 0.84. What is it here?"],
    ),
    Mistake(
        "scaled",
        STEPS.but(encoding=lambda encoding, d_model: encoding * math.sqrt(d_model)),
        STEPS.but(encoding=lambda encoding, d_model: encoding / math.sqrt(d_model)),
        STEPS.but(encoding=lambda encoding, d_model: encoding * math.sqrt(2 / d_model)),
        does="the table is multiplied by a number",
        says="The whole table is multiplied by a number. Sines and cosines go in as they are, between −1 and 1.",
        hints=["What are the largest numbers in the table?"],
    ),
    in_float64(STEPS),
    *of_the_result(STEPS, "result_transposed", "axes_of_length_1_removed"),
]
