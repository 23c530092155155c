"""The answer to ``sinusoidal_encoding``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercises.lesson_05_positions.shared.frequency_mistakes import FREQUENCIES
from transformer_course.exercises.lesson_05_positions.shared.steps import column, sines, width
from transformer_course.steps import InSteps


def sinusoidal_encoding(length: int, d_model: int, base: float = 10000.0) -> Float[Tensor, "length d_model"]:
    """Return for position t the sine of t base^(−2i/d_model) in column 2i, and the cosine of it in column 2i + 1."""
    frequencies = base ** (-torch.arange(0, d_model, 2) / d_model)
    angles = torch.arange(length)[:, None] * frequencies
    encoding = torch.empty(length, d_model)
    encoding[:, 0::2] = angles.sin()
    encoding[:, 1::2] = angles.cos()
    return encoding


def positions(length):
    """count the positions from 0

    the positions, from 0 on
    """
    return torch.arange(length)


def angles(column, frequencies):
    """multiply each position by each frequency

    the angles: position times frequency, (length, d_model / 2)
    """
    return column * frequencies


def cosines(angles):
    """take the cosines of the same angles

    the cosines of the angles
    """
    return angles.cos()


def encoding(sines, cosines, length, d_model):
    """write the sines into the even columns and the cosines into the odd ones

    the encoding: sines in the even columns, cosines in the odd ones
    """
    table = torch.empty(length, d_model)
    table[:, 0::2] = sines
    table[:, 1::2] = cosines
    return table


STEPS = InSteps(positions, width, *FREQUENCIES, column, angles, sines, cosines, encoding, reference=sinusoidal_encoding)
