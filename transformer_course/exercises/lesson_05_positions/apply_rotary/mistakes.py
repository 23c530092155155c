"""What goes wrong in a rotation by positions once the frequencies are there: with the pairs."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.apply_rotary.answer import STEPS

HALVES = {
    "first": lambda x, width: x[..., : width // 2],
    "second": lambda x, width: x[..., width // 2 :],
}
"""Pairs of features that are half the width apart."""


def _one_after_the_other(turned_first, turned_second):
    return torch.cat([turned_first, turned_second], dim=-1)


def _halves_by_turns(angles):
    """Return angles laid out for halves, and picked as if for neighbours: those of first and of second members."""
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
        does="feature i is paired with feature i + d/2",
        says=(
            "{does}. That is as good a model, and some published ones are built so, but here neighbours are pairs: (0, "
            "1), (2, 3), … Look at how the pairs are picked."
        ),
        hints=["Which features are turned together?"],
    ),
    Mistake(
        "halves_put_back_as_neighbours",
        STEPS.but(**HALVES),
        does="pairs are picked half the width apart, and put back as neighbours",
        says="{does}, so that features change places. Look at how the pairs are picked.",
        hints=["At position 0 nothing turns: x should come out as it was. Does it?"],
    ),
    Mistake(
        "angles_and_pairs_that_do_not_match",
        STEPS.but(turned_first=_first_by_its_own, turned_second=_second_by_its_own),
        does="pairs are picked in one way and angles laid out in another",
        says=(
            "The two features of a pair are turned by different angles: {does}. Lengths change, and scores depend on "
            "more than the distance."
        ),
        hints=["Write down for d = 4: which features are a pair, and which angle does each of them get?"],
    ),
    Mistake(
        "adds_the_encoding",
        STEPS.but(turned=lambda x, sines, cosines: x + torch.stack([sines, cosines], dim=-1).flatten(-2)),
        does="sines and cosines are *added* to x",
        says="{does}, as the sinusoidal encoding is to word vectors. Here x is turned by the angles.",
        hints=["At position 0, x should come out as it was."],
    ),
]
