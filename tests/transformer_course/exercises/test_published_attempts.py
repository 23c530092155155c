"""Wrong answers after public bug reports: each is recognized, or its line is found."""

import json
import re
from pathlib import Path

import pytest

from tests.transformer_course.exercises.blind import Attempt, check
from transformer_course.exercises import every_exercise
from transformer_course.lesson.session import Session

PATH = Path(__file__).parent / "published_attempts.jsonl"
ATTEMPTS = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]
"""Each has an id, the exercise, the report that it follows, its code, the mistakes that should be recognized, and the
line that should be shown if it is not the recognized mistake that matters.
"""


@pytest.fixture(scope="module")
def session():
    return Session(every_exercise())


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda one: one["id"])
def test_what_people_publish_is_recognized(attempt, session):
    exercise, code = attempt["exercise"], attempt["code"]
    verdict = check(Attempt(exercise, attempt["id"], "one", code, frozenset()), session)
    assert list(verdict.mistakes) == attempt["mistakes"]
    if "line" in attempt:
        assert str(attempt["line"]) in re.findall(r"^\s*line (\d+):", verdict.message, re.MULTILINE)
    assert verdict.mistakes or "line" in attempt
