"""Which pairs of mistakes are tried: those that fit what an attempt shows come first, and there are only so many."""

import itertools

import pytest

from tests.transformer_course.slips.answer import ROWS, STEPS, WEIGHTS
from transformer_course.checking import mistake_pairs
from transformer_course.checking.mistake_pairs import Single, in_order, likely, written
from transformer_course.exercise import Mistake
from transformer_course.slips.slip import Slip, SlipMistake

RIGHT, OTHER, THIRD = "float32[2]", "float32[3]", "float32[4]"
MISTAKES = [
    Mistake("negative", STEPS.but(rows=lambda rows: -rows), STEPS.but(mean=lambda mean: -mean), does="it is negative"),
    Mistake("whole", lambda rows, weights, scale=None: rows, says="Rows are no mean."),
    Mistake("doubled", STEPS.but(shares=lambda shares: 2 * shares), does="the shares are doubled"),
]


def single(name, form, rank, *, is_slip=True):
    slip = SlipMistake(Slip("shares", name, code={"shares": "weights"}), STEPS)
    return Single(slip, 0, rank, is_slip=is_slip, forms=[form])


def names(pairs):
    return [(one.mistake.name.partition("_")[0], other.mistake.name.partition("_")[0]) for one, other in pairs]


def test_what_does_no_step_otherwise_meets_no_other_mistake():
    singles = written(MISTAKES, STEPS)
    assert [(one.mistake.name, one.number, one.rank) for one in singles] == [
        ("negative", 0, 0), ("negative", 1, 1), ("doubled", 0, 2),
    ]  # fmt: skip
    pairs = in_order(itertools.combinations(singles, 2))
    assert [pair.mistakes[-1].name for pair in pairs] == ["negative", "doubled", "negative"]
    assert pairs[1].way.attempt(ROWS, WEIGHTS).tolist() == [-5.0, -8.5, -15.5]


def test_pairs_that_may_give_what_was_seen_come_first():
    some = [single("a", RIGHT, 0), single("b", OTHER, 1), single("c", RIGHT, 2), single("d", THIRD, 3)]
    assert names(likely(some, [RIGHT], [RIGHT], lambda _: True))[0] == ("a", "c")
    assert names(likely(some, [RIGHT], [OTHER], lambda _: True))[:2] == [("a", "b"), ("b", "c")]
    assert len(likely(some, [RIGHT], [RIGHT], lambda _: True)) == 6


def test_what_is_wrong_where_the_attempt_is_right_comes_late():
    some = [single("a", RIGHT, 0), single("b", RIGHT, 1), single("c", RIGHT, 2)]
    found = likely(some, [RIGHT], [RIGHT], lambda one: one is not some[0])
    assert names(found) == [("b", "c"), ("a", "b"), ("a", "c")]


def test_no_more_are_tried_than_may_be(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(mistake_pairs, "MAX_PAIRS", 2)
    some = [single(name, RIGHT, rank) for rank, name in enumerate("abc")]
    assert names(likely(some, [RIGHT], [RIGHT], lambda _: True)) == [("a", "b"), ("a", "c")]


def test_two_that_are_written_down_are_no_pair_with_a_slip():
    some = [single("a", RIGHT, 0, is_slip=False), single("b", RIGHT, 1, is_slip=False), single("c", RIGHT, 2)]
    assert names(likely(some, [RIGHT], [RIGHT], lambda _: True)) == [("a", "c"), ("b", "c")]
