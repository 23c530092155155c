"""What goes wrong in a rotation by positions once the frequencies are there: with the positions and the pairs.

Rare ways are given as plain attempts (``.attempt``): they are recognised alone, and meet no other mistake.
"""

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


def _by_own_angles(all_angles, pick_first, pick_second):
    """Turn the two members of each pair by angles of their own, which are picked from a table for all features."""

    def turned_first(first, second, angles):
        of_first = pick_first(all_angles(angles))
        return first * of_first.cos() - second * of_first.sin()

    def turned_second(first, second, angles):
        of_second = pick_second(all_angles(angles))
        return first * of_second.sin() + second * of_second.cos()

    return {"turned_first": turned_first, "turned_second": turned_second}


def _with_own_exponents(by):
    """Turn the second members by the exponent that is larger by so many features."""

    def turned_second(first, second, column, exponents, power, width):
        angles = column * power(exponents + by / width)
        return first * angles.sin() + second * angles.cos()

    return turned_second


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
        STEPS.but(
            **HALVES,
            **_by_own_angles(
                lambda angles: angles.repeat_interleave(2, dim=-1),
                lambda table: table.chunk(2, dim=-1)[0],
                lambda table: table.chunk(2, dim=-1)[1],
            ),
            turned=_one_after_the_other,
        ),
        STEPS.but(
            **_by_own_angles(
                lambda angles: torch.cat([angles, angles], dim=-1),
                lambda table: table[..., 0::2],
                lambda table: table[..., 1::2],
            )
        ),
        does="pairs are picked in one way and angles laid out in another",
        says=(
            "The two features of a pair are turned by different angles: {does}. Lengths change, and scores depend on "
            "more than the distance."
        ),
        hints=["Write down for d = 4: which features are a pair, and which angle does each of them get?"],
    ),
    Mistake(
        "a_frequency_for_every_feature",
        STEPS.but(turned_second=_with_own_exponents(1)),
        STEPS.but(turned_second=_with_own_exponents(2)),
        STEPS.but(two_i=lambda two_i: 2 * two_i, turned_second=_with_own_exponents(2)),
        does="the two features of a pair have different frequencies",
        says=(
            "{does}: lengths change, and scores depend on more than the distance. Look at the exponents of two "
            "neighbouring features."
        ),
        hints=["In the formula, i is the same for both features of a pair."],
    ),
    Mistake(
        "pairs_on_an_axis_of_their_own",
        STEPS.but(turned=lambda turned_first, turned_second: torch.stack([turned_first, turned_second], dim=-1)),
        STEPS.but(turned=lambda turned_first, turned_second: torch.stack([turned_first, turned_second])).attempt,
        STEPS.but(turned=lambda turned_first, turned_second: (turned_first, turned_second)).attempt,
        does="the members of the pairs come out apart, or on an axis of their own",
        says="The turned members are not put back into one vector: two tensors come out, or one axis too many.",
        hints=["What shape is asked for, and what comes out?"],
    ),
    Mistake(
        "shrinks_instead_of_turning",
        STEPS.but(
            turned_first=lambda first, cosines: first * cosines,
            turned_second=lambda second, cosines: second * cosines,
        ),
        STEPS.but(
            turned_first=lambda first, cosines: first * cosines,
            turned_second=lambda second, sines: second * sines,
        ),
        does="each member is multiplied by one wave, and gets nothing of its partner",
        says=(
            "Each feature is only multiplied by a number. That shrinks it; to turn a pair, each member also needs "
            "a part of the other."
        ),
        hints=["Print the lengths of the vectors before and after: a rotation keeps them."],
    ),
    Mistake(
        "adds_the_encoding",
        STEPS.but(turned=lambda x, sines, cosines: x + torch.stack([sines, cosines], dim=-1).flatten(-2)),
        STEPS.but(turned=lambda x, sines, cosines: x + torch.cat([sines, cosines], dim=-1)).attempt,
        does="sines and cosines are *added* to x",
        says="{does}, as the sinusoidal encoding is to word vectors. Here x is turned by the angles.",
        hints=["At position 0, x should come out as it was."],
    ),
    Mistake(
        "counts_positions_itself",
        STEPS.but(positions=lambda x: torch.arange(x.shape[-2])),
        STEPS.but(positions=lambda x: torch.arange(x.shape[1])).attempt,
        STEPS.but(positions=lambda x: torch.arange(x.shape[0])).attempt,
        STEPS.but(positions=lambda x: torch.arange(1, x.shape[-2] + 1)).attempt,
        does="the positions that are given play no part: rows are counted instead",
        hints=["What if the vectors are words 7, 2 and 4 of a sentence?"],
    ),
]
