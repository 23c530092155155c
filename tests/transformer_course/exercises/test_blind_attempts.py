"""Attempts by people who had not seen any mistakes: correct ones pass, and almost all others are explained.

By default, one attempt in forty is checked. With ``--thorough``, all of them are, and the fractions must reach the
goal.
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
"""Minimum fraction of explained attempts: a name or a line for a single mistake, both names for two."""


@pytest.fixture(scope="module")
def session():
    return Session(every_exercise())


@pytest.mark.parametrize("attempt", one_in(40, ATTEMPTS), ids=lambda one: one.id)
def test_only_correct_attempts_pass(attempt, session):
    assert check(attempt, session).passed == (attempt.kind == "right")


@pytest.mark.thorough
@pytest.mark.parametrize("kind", MIN_REPORTED_FRACTION)
def test_nearly_all_are_explained(kind, session):
    attempts = [attempt for attempt in ATTEMPTS if attempt.kind == kind]
    counts = Counter(outcome(check(attempt, session), attempt) for attempt in attempts)
    n_reported = counts["both"] if kind == "two" else counts["named"] + counts["placed"]
    assert n_reported >= MIN_REPORTED_FRACTION[kind] * len(attempts), counts


def test_random_changes_are_reproducible_and_cover_all_exercises():
    n = len(every_exercise()) + 10
    some, few = draw_mutants(n), [*every_exercise()][::10]
    assert [one.code for one in draw_mutants(20, few)] == [one.code for one in draw_mutants(20, few)]
    assert len(some) == n and len({one.exercise for one in some}) == len(every_exercise())
    assert len({one.code for one in some}) == n and all(one.lines for one in some)


def test_change_is_equivalent_if_correct_on_other_cases():
    def changed(code):
        return Attempt("score_variance", "", "mutant", f"def score_variance(d_k, variance):\n    {code}", frozenset())

    assert is_equivalent(changed("return variance * variance * d_k"))
    assert not is_equivalent(changed("return variance * d_k"))


def test_marks_give_wrong_code_and_its_lines():
    assert made_wrong("a\n⟦b¦c\nd⟧ ⟦e¦f⟧") == ("a\nc\nd f", frozenset({2, 3}))
