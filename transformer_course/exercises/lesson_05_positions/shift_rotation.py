"""The matrix that shifts a positional encoding by a number of positions."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.lesson_05_positions.shared.frequency_mistakes import (
    FREQUENCIES,
    frequency_messages,
    frequency_mistakes,
)
from transformer_course.exercises.lesson_05_positions.shared.steps import cosines, sines, width
from transformer_course.exercises.shared.draw_cases import generator, uniform
from transformer_course.running.case import Case
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
    """multiply each frequency by the offset → the angles: offset times frequency"""
    return offset * frequencies


def blocks(cosines, sines):
    """build a 2 × 2 matrix for each pair → the 2 × 2 blocks of the pairs → the 2 × 2 blocks"""
    return two_by_two(cosines, sines, -sines, cosines)


def rotation(blocks):
    """put the blocks on the diagonal of a matrix → the rotation matrix: the blocks along its diagonal"""
    return torch.block_diag(*blocks)


def two_by_two(upper_left, upper_right, lower_left, lower_right):
    """Build 2 × 2 matrices from their four entries."""
    return torch.stack([upper_left, upper_right, lower_left, lower_right], dim=-1).unflatten(-1, (2, 2))


STEPS = InSteps(width, *FREQUENCIES, angles, cosines, sines, blocks, rotation, reference=shift_rotation)


def shift_rotation_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    bases = [uniform(rng, low, 2 * low) for low in (20.0, 3.0)]
    return [
        Case({"offset": 1, "d_model": 2}, "one step, a single pair of features"),
        Case({"offset": 2, "d_model": 4}, "two steps, 2 pairs"),
        Case({"offset": 0, "d_model": 4}, "no step, 2 pairs"),
        Case({"offset": -3, "d_model": 4, "base": bases[0]}, f"three steps back, 2 pairs, base {bases[0]:.1f}"),
        Case({"offset": 12, "d_model": 8}, "12 steps, 4 pairs"),
        Case({"offset": 5, "d_model": 16, "base": bases[1]}, f"5 steps, 8 pairs, base {bases[1]:.1f}"),
    ]


def _in_halves(blocks):
    """Arrange the blocks as if the first features of all pairs came before all second features."""
    rows = [torch.cat([torch.diag(blocks[:, i, 0]), torch.diag(blocks[:, i, 1])], dim=1) for i in (0, 1)]
    return torch.cat(rows)


MISTAKES = [
    Mistake(
        "minus_on_the_diagonal",
        STEPS.but(blocks=lambda cosines, sines: two_by_two(cosines, sines, sines, -cosines)),
        summary="you put a minus sign on the diagonal of each block",
        message=(
            "You put the minus sign before a cosine, so your matrix reflects instead of rotating. With offset 0 it "
            "should be the identity, but the diagonal of your blocks is (1, −1). Which entry of each block should have "
            "the minus sign?"
        ),
        hints=["With an angle of 0, what should each 2 × 2 block be?"],
    ),
    Mistake(
        "for_sines_then_cosines",
        STEPS.but(rotation=_in_halves),
        summary="you pair features half the width apart, as if all sines came first",
        message=(
            "Your matrix works only for an encoding with all sines first and then all cosines. Here, each sine is next "
            "to its cosine. Which rows and columns should the block of pair i fill?"
        ),
        hints=["Which columns of `sinusoidal_encoding` have the same frequency?"],
    ),
]


EXERCISE = Exercise(
    reference=shift_rotation,
    steps=STEPS,
    cases=shift_rotation_cases,
    points=3,
    stretch=True,
    verified="Your matrix shifts the encoding of every position by the same number of steps.",
    hints=[
        "Take one pair with frequency θ. At position p it is (sin pθ, cos pθ), and k steps later (sin (p+k)θ, cos "
        "(p+k)θ). What are the sine and cosine of a sum?",
        "sin(a + b) = sin a cos b + cos a sin b, and cos(a + b) = cos a cos b − sin a sin b, with a = pθ and b = "
        "kθ. Read off the 2 × 2 matrix that multiplies (sin a, cos a).",
        "Pair i has the block [[cos b, sin b], [−sin b, cos b]] with b = offset · base^(−2i/d_model), in rows and "
        "columns 2i and 2i + 1. All other entries are 0: start with `torch.zeros(d_model, d_model)` and fill in one "
        "pair at a time.",
    ],
    messages={
        "sign_sines": Wording(
            "{summary}, so your matrix shifts the encoding back by `offset` positions instead of forward. Which sine "
            "in each block should be negative?",
            summary="you rotate each pair in the opposite direction",
            hints=["For one pair, compare R @ (sin 0, cos 0) with (sin b, cos b). What does your R give?"],
        ),
        "left_out_angles: frequencies": Wording(
            "{summary}, so your matrix always shifts by one position. How should the angle change if the offset "
            "doubles?",
            summary="you don't multiply the frequencies by the offset",
            hints=["With an offset of 0, what should the matrix be? What is yours?"],
        ),
        "sign_blocks: sines": Wording(
            "{summary}, so the blocks reflect instead of rotating. Which sine should be negative?",
            summary="both sines in your 2 × 2 blocks have the same sign",
        ),
        **frequency_messages("d_model"),
        "operator_angles: (offset) + (frequencies)": (
            Wording(
                "You add the offset to the frequencies: with offset 0, you still rotate each pair by its frequency, "
                "but the matrix should be the identity. How should the angle change if the offset doubles?",
                summary="you add the offset to the frequencies instead of multiplying",
                hints=["With the frequencies 1 and 0.1 and an offset of 2, what should the two angles be?"],
            )
        ),
    },
    mistakes=[*frequency_mistakes(STEPS, "d_model"), *MISTAKES],
)
