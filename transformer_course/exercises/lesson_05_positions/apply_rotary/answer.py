"""The answer to ``apply_rotary``, plainly and in steps."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercises.lesson_05_positions.shared.frequency_mistakes import FREQUENCIES
from transformer_course.exercises.lesson_05_positions.shared.steps import column, cosines, sines
from transformer_course.steps import InSteps


def apply_rotary(
    x: Float[Tensor, "*batch n d"], positions: Int[Tensor, " n"], base: float = 10000.0
) -> Float[Tensor, "*batch n d"]:
    """Turn features (0, 1), (2, 3), … of each vector by its position times base^(−2i/d)."""
    d = x.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, d, 2) / d)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def width(x):
    """take the width of the vectors

    the width of the vectors
    """
    return x.shape[-1]


def angles(column, frequencies):
    """multiply each position by each frequency

    the angles: position times frequency, (n, d / 2)
    """
    return column * frequencies


def first(x):
    """pick the first member of each pair

    the first members of the pairs
    """
    return x[..., 0::2]


def second(x):
    """pick the second member of each pair

    the second members of the pairs
    """
    return x[..., 1::2]


def turned_first(first, second, cosines, sines):
    """compute the turned first members

    the turned first members: a cos φ − b sin φ
    """
    return first * cosines - second * sines


def turned_second(first, second, cosines, sines):
    """compute the turned second members

    the turned second members: a sin φ + b cos φ
    """
    return first * sines + second * cosines


def turned(turned_first, turned_second):
    """put the members of each pair side by side again

    the turned vectors
    """
    return torch.stack([turned_first, turned_second], dim=-1).flatten(-2)


STEPS = InSteps(
    width,
    *FREQUENCIES,
    column,
    angles,
    cosines,
    sines,
    first,
    second,
    turned_first,
    turned_second,
    turned,
    reference=apply_rotary,
)
