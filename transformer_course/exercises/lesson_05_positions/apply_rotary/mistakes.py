"""What goes wrong in a rotation by positions once the frequencies are there: with the positions and the pairs.

Rare ways are given as plain attempts (``.attempt``): they are recognised alone, and meet no other mistake.
"""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.apply_rotary.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import in_float64, of_the_result

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
        "turns_the_other_way",
        STEPS.but(sines=lambda sines: -sines),
        does="each pair is turned backwards, by minus its angle",
    ),
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
        "tears_pairs_apart",
        STEPS.but(turned=_one_after_the_other),
        does="all first members come out before all second ones",
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
        "flattens_too_much",
        STEPS.but(turned=lambda turned: turned.flatten(1)),
        STEPS.but(turned=lambda turned: turned.flatten()),
        STEPS.but(turned=lambda turned_first, turned_second: torch.stack([turned_first, turned_second], 2).flatten(2)),
        does="more is flattened than the pairs, or another axis",
        says="The axes are counted from the front, so that with a batch, positions are flattened along with the pairs.",
        hints=["What shape is asked for, and what comes out?"],
    ),
    Mistake(
        "only_half_of_the_features",
        STEPS.but(turned=lambda turned_first: turned_first),
        STEPS.but(turned=lambda turned_second: turned_second).attempt,
        STEPS.but(turned=lambda turned_first, turned_second: turned_first + turned_second).attempt,
        does="a single number comes out for each pair",
        says="{does}, and there should be two. Look at how the results are put together.",
        hints=["What shape is asked for, and what comes out?"],
    ),
    Mistake(
        "forgets_the_minus",
        STEPS.but(turned_first=lambda first, second, cosines, sines: first * cosines + second * sines),
        STEPS.but(turned_second=lambda first, second, cosines, sines: second * cosines - first * sines),
        does="the two sines have the same sign",
        says="Lengths change: this is no rotation. Exactly one of the two sines should have a minus.",
        hints=["Print the lengths of the vectors before and after."],
    ),
    Mistake(
        "minus_before_a_cosine",
        STEPS.but(turned_first=lambda first, second, cosines, sines: second * sines - first * cosines),
        STEPS.but(turned_second=lambda first, second, cosines, sines: first * sines - second * cosines),
        does="the minus stands before a cosine",
    ),
    Mistake(
        "sine_and_cosine_exchanged",
        STEPS.but(cosines=lambda angles: angles.sin(), sines=lambda angles: angles.cos()),
        does="sine and cosine have changed places",
    ),
    Mistake(
        "exchanged_in_one_member",
        STEPS.but(turned_second=lambda first, second, cosines, sines: first * cosines + second * sines),
        STEPS.but(turned_second=lambda first, second, cosines, sines: first * cosines - second * sines),
        STEPS.but(turned_first=lambda first, second, cosines, sines: first * sines - second * cosines),
        does="in one of the two members, sine and cosine have changed places",
    ),
    Mistake(
        "members_exchanged",
        STEPS.but(
            turned=lambda turned_first, turned_second: torch.stack([turned_second, turned_first], -1).flatten(-2)
        ),
        STEPS.but(first=lambda x: x[..., 1::2], second=lambda x: x[..., 0::2]),
        does="the first and the second members change places",
    ),
    Mistake(
        "uses_what_it_has_just_changed",
        STEPS.but(turned_second=lambda turned_first, second, cosines, sines: turned_first * sines + second * cosines),
        STEPS.but(turned_first=lambda first, turned_second, cosines, sines: first * cosines - turned_second * sines),
        does="one member of each pair is made from the other *after* that was turned",
        says=(
            "One member of each pair is made from the other one *after* that was turned. Look at the order in which "
            "things are written."
        ),
        hints=["What does `x[..., 0::2]` hold once it has been assigned to?"],
    ),
    Mistake(
        "last_pair_stays",
        STEPS.but(turned=lambda turned, x: torch.cat([turned[..., :-2], x[..., -2:]], dim=-1)),
        STEPS.but(turned=lambda turned, x: torch.cat([turned[..., :-2], 0 * x[..., -2:]], dim=-1)),
        does="the last pair is not turned",
        hints=["How many pairs are there for d = 2?"],
    ),
    Mistake(
        "second_members_stay",
        STEPS.but(turned_second=lambda second: second),
        STEPS.but(turned_second=lambda x: torch.zeros_like(x[..., 1::2])).attempt,
        does="the second members are not computed",
        says="Only the first member of each pair is computed. Look at what becomes of the second one.",
        hints=["Turn (1, 0) by a small angle: what becomes of the 0?"],
    ),
    Mistake(
        "first_members_stay",
        STEPS.but(turned_first=lambda first: first),
        STEPS.but(turned_first=lambda x: torch.zeros_like(x[..., 0::2])).attempt,
        does="the first members are not computed",
        says="Only the second member of each pair is computed. Look at what becomes of the first one.",
        hints=["Turn (0, 1) by a small angle: what becomes of the 0?"],
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
        "sines_take_the_member_itself",
        STEPS.but(turned_first=lambda first, cosines, sines: first * cosines - first * sines),
        STEPS.but(turned_second=lambda second, cosines, sines: second * sines + second * cosines),
        does="a sine is multiplied with the member itself and not with its partner",
    ),
    Mistake(
        "only_the_partner",
        STEPS.but(
            turned_first=lambda second, sines: -second * sines,
            turned_second=lambda first, sines: first * sines,
        ),
        does="each member is made of its partner alone, without the term of the cosine",
        says="Each member is made of its partner alone: at position 0, where nothing turns, only zeros are left.",
        hints=["What are sin 0 and cos 0? What becomes of (a, b) with them?"],
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
    Mistake(
        "positions_off_by_one",
        STEPS.but(positions=lambda positions: positions + 1),
        STEPS.but(positions=lambda positions: positions - 1),
        does="the positions are off by one",
        says=(
            "Every vector is turned as if it stood one position further on, or further back. Look at the angles of "
            "position 0."
        ),
        hints=["At position 0 nothing turns: x should come out as it was. Does it?"],
    ),
    Mistake(
        "positions_from_the_first",
        STEPS.but(positions=lambda positions: positions - positions[0]),
        does="positions are counted from the first of them",
        says="{does}, so that this one is never turned. Look at the angles.",
        hints=["What if the vectors are words 7, 2 and 4 of a sentence?"],
    ),
    Mistake(
        "positions_in_no_column",
        STEPS.but(column=lambda positions: positions),
        STEPS.but(column=lambda positions: positions[None]).attempt,
        does="positions and frequencies are multiplied entry by entry, and not each with each",
    ),
    Mistake(
        "width_of_another_axis",
        STEPS.but(width=lambda x: x.shape[-2]),
        STEPS.but(width=lambda x: x.shape[1]).attempt,
        STEPS.but(width=lambda x: x.shape[0]).attempt,
        does="the width is read from another axis than the last",
    ),
    Mistake(
        "picks_along_another_axis",
        STEPS.but(first=lambda x: x[:, 0::2], second=lambda x: x[:, 1::2]),
        STEPS.but(first=lambda x: x[0::2], second=lambda x: x[1::2]).attempt,
        does="the pairs are picked along another axis than the last",
        says="{does}: with a batch in front, these are no features.",
        hints=["With x of shape (2, 4, 6), what does `x[:, 0::2]` pick?"],
    ),
    in_float64(STEPS),
    *of_the_result(STEPS, "function_of_the_result"),
]
