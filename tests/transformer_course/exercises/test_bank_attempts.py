"""Tests with attempts at the practice bank's exercises that resemble published answers, with realistic bugs.

The authors knew the mistakes of the exercises, so these attempts are kept separate from ``blind_attempts``.
"""

from collections import Counter

import pytest

from tests.helpers.thoroughness import one_in
from tests.transformer_course.exercises.blind import BANK_FOLDER, check, outcome, read
from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.lesson.session import Session
from transformer_course.lesson_order import PRACTICE_BANK

ATTEMPTS = list(read(BANK_FOLDER))
MIN_ATTEMPTS, MIN_REPORTED_FRACTION = 5, 0.95
"""Minimum number of wrong attempts per exercise, and minimum fraction of wrong attempts that must be explained."""


@pytest.fixture(scope="module")
def session():
    return Session(every_exercise())


@pytest.mark.parametrize("attempt", one_in(10, ATTEMPTS), ids=lambda attempt: attempt.id)
def test_only_correct_attempts_pass(attempt, session):
    assert check(attempt, session).passed == (attempt.kind == "right")


@pytest.mark.thorough
def test_explains_nearly_all_wrong_attempts(session):
    wrong = [attempt for attempt in ATTEMPTS if attempt.kind == "one"]
    counts = Counter(outcome(check(attempt, session), attempt) for attempt in wrong)
    assert counts["named"] + counts["placed"] >= MIN_REPORTED_FRACTION * len(wrong), counts


def test_every_exercise_has_correct_and_several_wrong_attempts():
    counts = Counter((attempt.exercise, attempt.kind) for attempt in ATTEMPTS)
    for exercise in exercises_of(PRACTICE_BANK):
        assert counts[exercise.name, "right"] >= 1, exercise.name
        assert counts[exercise.name, "one"] >= MIN_ATTEMPTS, exercise.name
