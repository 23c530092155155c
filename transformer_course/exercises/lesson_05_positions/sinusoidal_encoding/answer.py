"""The answer to ``sinusoidal_encoding`` in steps; the plain one is the library's."""

import torch

from transformer_course.exercises.lesson_05_positions.shared.frequency_mistakes import FREQUENCIES
from transformer_course.exercises.lesson_05_positions.shared.steps import column, sines, width
from transformer_course.steps import InSteps
from transformer_lab.attention.positions import sinusoidal_encoding


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
