"""Tests that a practice session rates and records checks, and does not change saved parts."""

import time

import pytest

from tests.transformer_course.cells import cell
from transformer_course.practice import session as practice
from transformer_course.practice.session import PracticeSession, begin, check, hint, score, solution
from transformer_course.workspace.progress import read_progress

RIGHT = "def softmax(scores): return torch.softmax(scores, dim=-1)"
WRONG = "def softmax(scores): return torch.softmax(scores, dim=0)"


@pytest.fixture
def folder(learner_folder, session, monkeypatch):
    """The learner's folder, with a started session."""
    monkeypatch.setattr(practice.saved_parts, "record_folder", lambda shell: learner_folder)
    begin(2)
    return learner_folder


def ratings(folder):
    return [(review.card, review.rating) for review in read_progress(folder).reviews]


def softmax(source):
    return cell(source, "softmax")


def test_passing_first_check_is_rated_good(folder, session):
    verdict = check(softmax(RIGHT))
    assert verdict.passed and "It comes back in 2 days." in verdict.message
    assert ratings(folder) == [("softmax", "good")]
    assert session.parts.whose("softmax") == "the library's"
    assert read_progress(folder).passed == {}


def test_failed_check_before_pass_is_rated_hard(folder):
    assert check(softmax(WRONG)).mistakes
    check(softmax(RIGHT))
    assert ratings(folder) == [("softmax", "hard")]


@pytest.mark.parametrize("help_", [hint, solution])
def test_using_hint_or_solution_is_rated_again(folder, help_):
    help_(softmax(WRONG))
    check(softmax(RIGHT))
    assert ratings(folder) == [("softmax", "again")]


def test_only_first_pass_in_session_counts(folder):
    for source in (RIGHT, WRONG, RIGHT):
        check(softmax(source))
    assert ratings(folder) == [("softmax", "good")]


def test_checking_unchanged_stub_is_not_a_failure(folder):
    check(softmax("def softmax(scores): raise NotImplementedError"))
    check(softmax(RIGHT))
    assert ratings(folder) == [("softmax", "good")]


def test_score_lists_mistakes(folder):
    [mistake] = check(softmax(WRONG)).mistakes
    check(softmax(RIGHT))
    assert score().message.splitlines() == [
        "Exercises: 1 of 2 passed, 0 of them on the first check.",
        f"Mistakes in `softmax`: {mistake.replace('_', ' ')}.",
    ]


def test_clock_reports_minutes_used(monkeypatch):
    now = time.monotonic()
    monkeypatch.setattr(time, "monotonic", lambda: now)
    timed = PracticeSession(None, 0, minutes=45)
    now += 47 * 60
    assert timed.clock == "47 of 45 minutes"
    assert "You took longer than planned." in timed.report().message


def test_check_works_without_folder_for_record(session):
    begin(1)
    assert "no lesson folder" in check(softmax(RIGHT)).message
