"""Tests that small cases are displayed with their inputs and outputs, and that large cases are not displayed."""

import torch

from transformer_course.checking.case_display import case_by_hand
from transformer_course.exercises import every_exercise
from transformer_course.running.observe import observe

SOFTMAX = every_exercise()["softmax"]
CASES = list(SOFTMAX.cases(0))
RIGHT = [observe(SOFTMAX.reference, case) for case in CASES]


def by_hand(attempt, cases=CASES):
    return case_by_hand(SOFTMAX, cases, [observe(attempt, case) for case in cases], RIGHT)


def test_shows_first_small_case_that_differs():
    title, scores, expected, got = by_hand(lambda scores: scores.softmax(dim=0)).splitlines()
    assert title.startswith("Case ") and f" of {len(CASES)} (" in title
    assert scores.startswith("    scores    [[")
    assert expected.startswith("    expected  [[") and got.startswith("    got       ")
    assert expected[14:] != got[14:]


def test_returns_nothing_without_small_case_or_output():
    assert by_hand(SOFTMAX.reference) == ""
    assert by_hand(lambda scores: 1 / 0) == ""
    large = [case for case in CASES if sum(value.numel() for value in case.inputs.values()) > 24]
    assert large
    observed = [observe(lambda scores: torch.zeros_like(scores), case) for case in large]
    assert case_by_hand(SOFTMAX, large, observed, [observe(SOFTMAX.reference, case) for case in large]) == ""
