"""Tests with attempts whose authors had not seen any mistakes: correct ones pass, and most others are explained.

By default, every fortieth attempt is checked. With ``--thorough``, all attempts are checked, and a minimum fraction
must be explained.
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
    outcome,
    read,
    with_mistakes,
)
from transformer_course.exercises import every_exercise
from transformer_course.lesson.session import Session

ATTEMPTS = list(read(FOLDER))
MIN_REPORTED_FRACTION = {"one": 0.97, "two": 0.85}
"""Minimum fraction of explained attempts. A single mistake must be named or located, and two must both be named."""


@pytest.fixture(scope="module")
def session():
    return Session(every_exercise())


@pytest.mark.parametrize("attempt", one_in(40, ATTEMPTS), ids=lambda attempt: attempt.id)
def test_only_correct_attempts_pass(attempt, session):
    assert check(attempt, session).passed == (attempt.kind == "right")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", MIN_REPORTED_FRACTION)
def test_explains_nearly_all_wrong_attempts(kind, session):
    attempts = [attempt for attempt in ATTEMPTS if attempt.kind == kind]
    counts = Counter(outcome(check(attempt, session), attempt) for attempt in attempts)
    n_reported = counts["both"] if kind == "two" else counts["named"] + counts["placed"]
    assert n_reported >= MIN_REPORTED_FRACTION[kind] * len(attempts), counts


def test_random_changes_are_reproducible_and_cover_all_exercises():
    n = len(every_exercise()) + 10
    mutants, only = draw_mutants(n), [*every_exercise()][::10]
    assert draw_mutants(20, only) == draw_mutants(20, only)
    assert len(mutants) == n and len({mutant.exercise for mutant in mutants}) == len(every_exercise())
    assert len({mutant.code for mutant in mutants}) == n and all(mutant.lines for mutant in mutants)


def test_change_is_equivalent_if_correct_on_all_seeds():
    def mutant(code):
        return Attempt("score_variance", "", "mutant", f"def score_variance(d_k, variance):\n    {code}", frozenset())

    assert is_equivalent(mutant("return variance * variance * d_k"))
    assert not is_equivalent(mutant("return variance * d_k"))


def test_inserts_marked_mistakes_and_returns_their_lines():
    assert with_mistakes("a\n⟦b¦c\nd⟧ ⟦e¦f⟧") == ("a\nc\nd f", frozenset({2, 3}))
