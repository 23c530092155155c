"""Attempts of people who have seen neither mistakes nor generated mistakes: what is right passes, and nearly all else
is told.

A run checks one in forty; with ``--thorough``, all are, and the fractions of what is told are those of the goal.
"""

from collections import Counter

import pytest

from tests.helpers.thoroughness import one_in
from tests.transformer_course.exercises.blind import (
    FOLDER,
    Attempt,
    check,
    draw_mutants,
    is_equivalent,
    made_wrong,
    outcome,
    read,
)
from transformer_course.exercises import every_exercise
from transformer_course.lesson.session import Session

ATTEMPTS = list(read(FOLDER))
MIN_REPORTED_FRACTION = {"one": 0.95, "two": 0.75}
"""What fraction is told at least: of single mistakes a name or a line, of two at once both."""


@pytest.fixture(scope="module")
def session():
    return Session(every_exercise())


@pytest.mark.parametrize("attempt", one_in(40, ATTEMPTS), ids=lambda one: one.id)
def test_what_is_right_passes_and_nothing_else_does(attempt, session):
    assert check(attempt, session).passed == (attempt.kind == "right")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", MIN_REPORTED_FRACTION)
def test_nearly_all_are_told(kind, session):
    attempts = [attempt for attempt in ATTEMPTS if attempt.kind == kind]
    counts = Counter(outcome(check(attempt, session), attempt) for attempt in attempts)
    n_reported = counts["both"] if kind == "two" else counts["named"] + counts["placed"]
    assert n_reported >= MIN_REPORTED_FRACTION[kind] * len(attempts), counts


def test_random_changes_are_the_same_every_time_and_of_all_exercises():
    n = len(every_exercise()) + 10
    some, few = draw_mutants(n), [*every_exercise()][::10]
    assert [one.code for one in draw_mutants(20, few)] == [one.code for one in draw_mutants(20, few)]
    assert len(some) == n and len({one.exercise for one in some}) == len(every_exercise())
    assert len({one.code for one in some}) == n and all(one.lines for one in some)


def test_a_change_is_equivalent_where_it_is_right_on_other_cases_as_well():
    def changed(code):
        return Attempt("score_variance", "", "mutant", f"def score_variance(d_k, variance):\n    {code}", frozenset())

    assert is_equivalent(changed("return variance * variance * d_k"))
    assert not is_equivalent(changed("return variance * d_k"))


def test_marks_say_what_is_wrong_and_in_which_lines():
    assert made_wrong("a\n⟦b¦c\nd⟧ ⟦e¦f⟧") == ("a\nc\nd f", frozenset({2, 3}))
