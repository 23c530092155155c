"""Attempts at the practice bank in the style of published answers, each wrong one with a bug that people really write.

Whoever wrote them knew the mistakes of the exercises, so they are kept apart from ``blind_attempts``.
"""

from collections import Counter
from pathlib import Path

import pytest

from tests.helpers.thoroughness import one_in
from tests.transformer_course.exercises.blind import check, outcome, read
from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.lesson.session import Session
from transformer_course.lesson_order import PRACTICE_BANK

ATTEMPTS = list(read(Path(__file__).parent / "bank_attempts"))
MIN_ATTEMPTS, MIN_REPORTED_FRACTION = 5, 0.95
"""Wrong attempts for each exercise at least, and what fraction of all wrong ones is named or located."""


@pytest.fixture(scope="module")
def session():
    return Session(every_exercise())


@pytest.mark.parametrize("attempt", one_in(10, ATTEMPTS), ids=lambda one: one.id)
def test_right_attempts_pass_and_wrong_ones_do_not(attempt, session):
    assert check(attempt, session).passed == (attempt.kind == "right")


@pytest.mark.thorough
def test_nearly_all_wrong_attempts_are_named_or_located(session):
    wrong = [attempt for attempt in ATTEMPTS if attempt.kind == "one"]
    counts = Counter(outcome(check(attempt, session), attempt) for attempt in wrong)
    assert counts["named"] + counts["placed"] >= MIN_REPORTED_FRACTION * len(wrong), counts


def test_every_exercise_has_a_right_attempt_and_several_wrong_ones():
    counts = Counter((attempt.exercise, attempt.kind) for attempt in ATTEMPTS)
    for exercise in exercises_of(PRACTICE_BANK):
        assert counts[exercise.name, "right"] >= 1, exercise.name
        assert counts[exercise.name, "one"] >= MIN_ATTEMPTS, exercise.name
