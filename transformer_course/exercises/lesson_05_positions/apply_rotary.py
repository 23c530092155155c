"""Turn queries and keys by their positions."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.lesson_05_positions.shared.frequency_mistakes import (
    FREQUENCIES,
    frequency_messages,
    frequency_mistakes,
)
from transformer_course.exercises.lesson_05_positions.shared.steps import column, cosines, sines
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
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
    """take the width of the vectors → the width of the vectors"""
    return x.shape[-1]


def angles(column, frequencies):
    """multiply each position by each frequency → the angles: position times frequency, (n, d / 2)"""
    return column * frequencies


def first(x):
    """pick the first member of each pair → the first members of the pairs"""
    return x[..., 0::2]


def second(x):
    """pick the second member of each pair → the second members of the pairs"""
    return x[..., 1::2]


def turned_first(first, second, cosines, sines):
    """compute the turned first members → the turned first members: a cos φ − b sin φ"""
    return first * cosines - second * sines


def turned_second(first, second, cosines, sines):
    """compute the turned second members → the turned second members: a sin φ + b cos φ"""
    return first * sines + second * cosines


def turned(turned_first, turned_second):
    """put the members of each pair side by side again → the turned vectors"""
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


def apply_rotary_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    bases = [uniform(rng, low, 2 * low) for low in (20.0, 3.0)]

    def case(shape: tuple[int, ...], positions: list[int], shows: str, **more: float) -> Case:
        return Case({"x": normal(rng, *shape), "positions": torch.tensor(positions), **more}, shows)

    return [
        case((1, 2), [1], "one vector with a single pair, at position 1"),
        case((2, 4), [0, 1], "positions 0 and 1, 2 pairs"),
        case((2, 4), [5, 2], "positions 5 and 2, 2 pairs"),
        case((3, 8), [7, 2, 4], f"positions 7, 2 and 4, 4 pairs, base {bases[0]:.1f}", base=bases[0]),
        case((2, 3, 4), [3, 4, 5], "a batch of 2, positions 3 to 5, 2 pairs"),
        case((2, 3, 31, 16), list(range(31)), f"a batch of 2, 3 heads, base {bases[1]:.1f}", base=bases[1]),
    ]


HALVES = {
    "first": lambda x, width: x[..., : width // 2],
    "second": lambda x, width: x[..., width // 2 :],
}
"""Pairs of features that are half the width apart."""


def _one_after_the_other(turned_first, turned_second):
    return torch.cat([turned_first, turned_second], dim=-1)


def _halves_by_turns(angles):
    """Return angles laid out for halves, and picked as if for neighbors: those of first and of second members."""
    both = torch.cat([angles, angles], dim=-1)
    return both[..., 0::2], both[..., 1::2]


def _first_by_its_own(first, second, angles):
    own, _ = _halves_by_turns(angles)
    return first * own.cos() - second * own.sin()


def _second_by_its_own(first, second, angles):
    _, own = _halves_by_turns(angles)
    return first * own.sin() + second * own.cos()


MISTAKES = [
    Mistake(
        "pairs_features_half_the_width_apart",
        STEPS.but(**HALVES, turned=_one_after_the_other),
        summary="feature i is paired with feature i + d/2",
        message=(
            "{summary}. That is as good a model, and some published ones are built so, but here neighbors are pairs: "
            "(0, 1), (2, 3), … Look at how the pairs are picked."
        ),
        hints=["Which features are turned together?"],
    ),
    Mistake(
        "halves_put_back_as_neighbors",
        STEPS.but(**HALVES),
        summary="pairs are picked half the width apart, and put back as neighbors",
        message="{summary}, so that features change places. Look at how the pairs are picked.",
        hints=["At position 0 nothing turns: x should come out as it was. Does it?"],
    ),
    Mistake(
        "angles_and_pairs_that_do_not_match",
        STEPS.but(turned_first=_first_by_its_own, turned_second=_second_by_its_own),
        summary="pairs are picked in one way and angles laid out in another",
        message=(
            "The two features of a pair are turned by different angles: {summary}. Lengths change, and scores depend "
            "on more than the distance."
        ),
        hints=["Write down for d = 4: which features are a pair, and which angle does each of them get?"],
    ),
    Mistake(
        "adds_the_encoding",
        STEPS.but(turned=lambda x, sines, cosines: x + torch.stack([sines, cosines], dim=-1).flatten(-2)),
        summary="sines and cosines are *added* to x",
        message="{summary}, as the sinusoidal encoding is to word vectors. Here x is turned by the angles.",
        hints=["At position 0, x should come out as it was."],
    ),
]


EXERCISE = Exercise(
    reference=apply_rotary,
    steps=STEPS,
    cases=apply_rotary_cases,
    points=3,
    verified="Each pair turns by its own angle, and any batch goes through.",
    hints=[
        "Take a single pair (a, b) and an angle φ. Turned by φ it is (a cos φ − b sin φ, a sin φ + b cos φ).",
        "All the angles at once: `positions[:, None] * base ** (-torch.arange(0, d, 2) / d)`, of shape (n, d / 2). "
        "All first members of pairs are `x[..., 0::2]`, all second ones `x[..., 1::2]`.",
        "Compute the turned first and second members from these, then put them back side by side: "
        "`torch.stack([first, second], dim=-1).flatten(-2)`.",
    ],
    messages={
        **frequency_messages("d"),
        "axis_turned: torch.stack([turned_first, turned_second], dim=-2)": (
            "The turned pairs are right, but all first members come first and all second ones after them. The members "
            "of a pair should stand side by side again. Look at how the two are put together."
        ),
    },
    mistakes=[*MISTAKES, *frequency_mistakes(STEPS, "d")],
)
