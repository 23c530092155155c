"""Tests that a mistake from a public bug report is recognized or its line is reported."""

import json
import re
from pathlib import Path

import pytest

from tests.transformer_course.exercises.blind import Attempt, check
from transformer_course.exercises import every_exercise
from transformer_course.lesson.session import Session

PATH = Path(__file__).parent / "published_attempts.jsonl"
ATTEMPTS = [json.loads(line) for line in PATH.read_text(encoding="utf-8").splitlines()]
"""Attempts with an ID, the exercise, the bug report, the code, the mistakes to recognize, and the line to report if the
most important mistake is not recognized.
"""


@pytest.fixture(scope="module")
def session():
    return Session(every_exercise())


@pytest.mark.parametrize("attempt", ATTEMPTS, ids=lambda attempt: attempt["id"])
def test_recognizes_or_locates_published_bug(attempt, session):
    exercise, code = attempt["exercise"], attempt["code"]
    verdict = check(Attempt(exercise, attempt["id"], "one", code, frozenset()), session)
    assert list(verdict.mistakes) == attempt["mistakes"]
    if "line" in attempt:
        assert str(attempt["line"]) in re.findall(r"^\s*line (\d+):", verdict.message, re.MULTILINE)
    assert verdict.mistakes or "line" in attempt
