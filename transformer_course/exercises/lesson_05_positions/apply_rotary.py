"""Rotary position embeddings: rotate queries and keys by their positions."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
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
    """Rotate pair i of each vector, features 2i and 2i + 1, by its position times base^(−2i/d)."""
    d = x.shape[-1]
    angles = positions[:, None] * base ** (-torch.arange(0, d, 2) / d)
    cos, sin = angles.cos(), angles.sin()
    even, odd = x[..., 0::2], x[..., 1::2]
    return torch.stack([even * cos - odd * sin, even * sin + odd * cos], dim=-1).flatten(-2)


def width(x):
    """read the width of the vectors → the width of the vectors"""
    return x.shape[-1]


def angles(column, frequencies):
    """multiply each position by each frequency → the angles: position times frequency, (n, d / 2)"""
    return column * frequencies


def first(x):
    """select the first feature of each pair → the first features of the pairs"""
    return x[..., 0::2]


def second(x):
    """select the second feature of each pair → the second features of the pairs"""
    return x[..., 1::2]


def turned_first(first, second, cosines, sines):
    """rotate the first feature of each pair → the rotated first features: a cos φ − b sin φ"""
    return first * cosines - second * sines


def turned_second(first, second, cosines, sines):
    """rotate the second feature of each pair → the rotated second features: a sin φ + b cos φ"""
    return first * sines + second * cosines


def turned(turned_first, turned_second):
    """interleave the rotated features → the rotated vectors"""
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
"""Steps that pair features i and i + d/2."""


def _one_after_the_other(turned_first, turned_second):
    return torch.cat([turned_first, turned_second], dim=-1)


def _halves_by_turns(angles):
    """Return the angles of features 2i and of features 2i + 1, from angles laid out for pairs (i, i + d/2)."""
    both = torch.cat([angles, angles], dim=-1)
    return both[..., 0::2], both[..., 1::2]


def _first_by_its_own(first, second, angles):
    own, _ = _halves_by_turns(angles)
    return first * own.cos() - second * own.sin()


def _second_by_its_own(first, second, angles):
    _, own = _halves_by_turns(angles)
    return first * own.sin() + second * own.cos()


def _neighbors_by_halves(angles):
    """Return the angles of features i and of features i + d/2, from angles laid out for pairs (2i, 2i + 1)."""
    return angles.repeat_interleave(2, dim=-1).chunk(2, dim=-1)


def _turned(own, other, angles):
    return own * angles.cos() + other * angles.sin()


MISTAKES = [
    Mistake(
        "pairs_features_half_the_width_apart",
        STEPS.but(**HALVES, turned=_one_after_the_other),
        summary="you pair feature i with feature i + d/2",
        message=(
            "{summary}, as Hugging Face's Llama does. That works as well, but here, each pair consists of neighbors: "
            "(0, 1), (2, 3), … How do you select the two features of a pair?"
        ),
        hints=["With d = 4, which feature do you rotate together with feature 0?"],
    ),
    Mistake(
        "halves_put_back_as_neighbors",
        STEPS.but(**HALVES),
        summary="you pair feature i with feature i + d/2 and put the two back as neighbors",
        message=(
            "{summary}, so features change places: at position 0, [1, 2, 3, 4] becomes [1, 3, 2, 4]. Which "
            "features form a pair?"
        ),
        hints=[
            "With d = 4, which feature do you rotate together with feature 0, and where do you put the rotated pair?"
        ],
    ),
    Mistake(
        "angles_and_pairs_that_do_not_match",
        STEPS.but(turned_first=_first_by_its_own, turned_second=_second_by_its_own),
        STEPS.but(
            **HALVES,
            turned_first=lambda first, second, angles: _turned(first, -second, _neighbors_by_halves(angles)[0]),
            turned_second=lambda first, second, angles: _turned(second, first, _neighbors_by_halves(angles)[1]),
            turned=_one_after_the_other,
        ),
        summary="you use one pairing for the features and another for the angles",
        message=(
            "{summary}, so you rotate the two features of a pair by different angles. That changes the lengths of the "
            "vectors, and the scores no longer depend on the distance alone. Which angle does each feature of a pair "
            "get?"
        ),
        hints=["For d = 4, write down which two features form each pair, and which angle each feature gets."],
    ),
    Mistake(
        "first_features_already_rotated",
        STEPS.but(
            turned_second=lambda turned_first, second, cosines, sines: turned_first * sines + second * cosines,
        ),
        summary="you compute the second features from first features that are already rotated",
        message=(
            "{summary}, because you overwrite the first features before you use them again. A slice such as `x[..., "
            "0::2]` is a view of the same numbers, not a copy. How can you keep the original features?"
        ),
        hints=["In (a cos φ − b sin φ, a sin φ + b cos φ), is the second a the old or the new first feature?"],
    ),
    Mistake(
        "adds_the_encoding",
        STEPS.but(turned=lambda x, sines, cosines: x + torch.stack([sines, cosines], dim=-1).flatten(-2)),
        summary="you *add* sines and cosines to x",
        message=(
            "{summary}, as with the sinusoidal encoding: at position 0, [1, 2] becomes [1, 3]. Here, rotate x "
            "instead, which leaves it unchanged at position 0."
        ),
        hints=["What does a rotation do to the length of a vector? What does your code do to it?"],
    ),
]


EXERCISE = Exercise(
    reference=apply_rotary,
    steps=STEPS,
    cases=apply_rotary_cases,
    points=3,
    verified="Your code rotates each pair by its own angle, in batches of any shape.",
    hints=[
        "Rotate the pair (1, 0) by an angle φ. Which numbers do you get? And for a pair (a, b)?",
        "Rotated by φ, (a, b) becomes (a cos φ − b sin φ, a sin φ + b cos φ). Each pair of features has its own φ "
        "at each position.",
        "All angles at once: `positions[:, None] * base ** (-torch.arange(0, d, 2) / d)`, of shape (n, d / 2). The "
        "first features of all pairs are `x[..., 0::2]`, and the second features are `x[..., 1::2]`.",
        "Compute the rotated first and second features from these, then interleave them: `torch.stack([first, "
        "second], dim=-1).flatten(-2)`.",
    ],
    messages={
        "ignored_positions: torch.arange(len(positions))": Wording(
            "{summary}, so row i is always at position i. With a cache, for example, the only row may be at position "
            "7. Which argument holds the position of each row?",
            summary="you use the row numbers as positions",
            hints=["If `positions` is [5, 2], by how many steps should you rotate the first row?"],
        ),
        "sign_sines": Wording(
            "{summary}: at position 1, the pair (1, 0) becomes (0.54, −0.84) instead of (0.54, 0.84). Which sine term "
            "has the minus sign in (a cos φ − b sin φ, a sin φ + b cos φ)?",
            summary="you rotate each pair in the opposite direction",
            hints=["Rotated by 90°, what should (1, 0) become? What does your code return?"],
        ),
        "operator_turned_first: (first * cosines) + (second * sines)": Wording(
            "{summary}, so you don't rotate the pair: its length changes. Which sine term has a minus sign in a "
            "rotation?",
            summary="you add b sin φ to the first feature of each pair instead of subtracting it",
            hints=["Rotated by 90°, what should (0, 1) become? What does your code return?"],
        ),
        **frequency_messages("d"),
        "axis_turned: torch.stack([turned_first, turned_second], dim=-2)": (
            Wording(
                "You rotate the pairs correctly, but your output has all first features before all second features: "
                "with d = 4, the order of the features is 0, 2, 1, 3. Along which `dim` should you stack them?",
                summary="you put all first features of the pairs before all second features",
                hints=["With d = 4, where should the second feature of the first pair be in the output?"],
            )
        ),
    },
    mistakes=[*MISTAKES, *frequency_mistakes(STEPS, "d")],
)
