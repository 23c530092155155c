"""Tests for the schedule that FSRS computes from the learner's record."""

from datetime import UTC, datetime, timedelta

import pytest

from transformer_course.practice.schedule import cards, days_until_due, is_due, recall
from transformer_course.workspace.progress import Progress, Review

DAY = timedelta(days=1)
PASSED = datetime(2026, 3, 2, 12, tzinfo=UTC)


def progress(*reviews):
    return Progress(passed={"softmax": PASSED}, reviews=[Review("softmax", *review) for review in reviews])


def test_exercise_is_due_two_days_after_passing():
    [card] = cards(progress()).values()
    assert [is_due(card, PASSED + n * DAY) for n in range(4)] == [False, False, True, True]
    assert days_until_due(card, PASSED) == 2


def test_intervals_grow_with_each_good_review():
    reviews, when, intervals = [], PASSED, []
    for _ in range(4):
        interval = days_until_due(cards(progress(*reviews))["softmax"], when)
        intervals.append(interval)
        when += interval * DAY
        reviews.append(("good", when))
    assert intervals == sorted(set(intervals)) and intervals[-1] > 10 * intervals[0]


@pytest.mark.parametrize(("worse", "better"), [("again", "hard"), ("hard", "good"), ("good", "easy")])
def test_better_rating_gives_longer_interval(worse, better):
    when = PASSED + 2 * DAY
    worse_days, better_days = (
        days_until_due(cards(progress((rating, when)))["softmax"], when) for rating in (worse, better)
    )
    assert worse_days < better_days


def test_recall_is_ninety_percent_on_due_date():
    card = cards(progress())["softmax"]
    assert recall(card, PASSED) == pytest.approx(1)
    assert recall(card, card.due) == pytest.approx(0.9, abs=0.02)


def test_review_order_does_not_matter():
    first, second = ("hard", PASSED + 2 * DAY), ("good", PASSED + 4 * DAY)
    assert cards(progress(first, second))["softmax"].due == cards(progress(second, first))["softmax"].due
