"""The answer to ``shift_rotation``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercises.lesson_05_positions.shared.frequency_mistakes import FREQUENCIES
from transformer_course.exercises.lesson_05_positions.shared.steps import cosines, sines, width
from transformer_course.steps import InSteps


def shift_rotation(offset: int, d_model: int, base: float = 10000.0) -> Float[Tensor, "d_model d_model"]:
    """Return the matrix R with PE(p + offset) = R PE(p) at every position p, for PE as in ``sinusoidal_encoding``."""
    rotation = torch.zeros(d_model, d_model)
    for i in range(0, d_model, 2):
        angle = torch.tensor(offset * base ** (-i / d_model))
        rotation[i, i], rotation[i, i + 1] = angle.cos(), angle.sin()
        rotation[i + 1, i], rotation[i + 1, i + 1] = -angle.sin(), angle.cos()
    return rotation


def angles(offset, frequencies):
    """multiply each frequency by the offset

    the angles: offset times frequency
    """
    return offset * frequencies


def blocks(cosines, sines):
    """make the 2 × 2 matrix of each pair

    the 2 × 2 blocks of the pairs
    """
    return two_by_two(cosines, sines, -sines, cosines)


def rotation(blocks):
    """write these blocks along the diagonal of a large matrix

    the matrix: these blocks along the diagonal
    """
    return torch.block_diag(*blocks)


def two_by_two(upper_left, upper_right, lower_left, lower_right):
    """Make a 2 × 2 matrix of every four numbers."""
    return torch.stack([upper_left, upper_right, lower_left, lower_right], dim=-1).unflatten(-1, (2, 2))


STEPS = InSteps(width, *FREQUENCIES, angles, cosines, sines, blocks, rotation, reference=shift_rotation)
