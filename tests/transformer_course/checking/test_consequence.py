"""Tests for the sentence that describes the consequence of a mistake."""

import pytest
import torch

from transformer_course.checking.consequence import consequence

WEIGHTS = torch.tensor([[0.5, 0.5, 0.0], [0.2, 0.3, 0.5]])
CAUSAL = torch.ones(3, 3, dtype=torch.bool).tril()
NAN = float("nan")


def sentence(value, right, *other_cases):
    pairs = [(value, right), *other_cases]
    return consequence([{"output": value} for value, _ in pairs], [{"output": right} for _, right in pairs])


@pytest.mark.parametrize(
    ("value", "right", "expected"),
    [
        (torch.ones(2, 3), torch.ones(3, 2), "Your output has shape (2, 3) instead of (3, 2)."),
        (WEIGHTS / 2, WEIGHTS, "Your rows sum to 0.5 instead of 1."),
        (WEIGHTS * torch.tensor([[0.41], [1.59]]), WEIGHTS, "Your rows sum to 0.41 and 1.6 instead of 1."),
        (WEIGHTS[0] * 2, WEIGHTS[0], "Your output sums to 2 instead of 1."),
        (WEIGHTS * torch.tensor([[2], [NAN]]), WEIGHTS, "Row 1 of your output is NaN."),
        (WEIGHTS * NAN, WEIGHTS, "Your output is NaN."),
        (WEIGHTS * torch.tensor([1, NAN, 1]), WEIGHTS, "Your output contains NaN."),
        (torch.ones(2) / 0, torch.ones(2), "Your output contains infinity."),
        (torch.ones(3, 3, dtype=torch.bool), CAUSAL, "Your output is True everywhere."),
        (CAUSAL.mT, CAUSAL, "Your output is True above the diagonal."),
        (CAUSAL.tril(-1), CAUSAL, "In row 0, column 0, your output is False instead of True."),
        (2 * WEIGHTS.mT, WEIGHTS.mT, "Every number is 2 times what it should be."),
        (WEIGHTS.mT + 1, WEIGHTS.mT, "Every number is 1 too large."),
        (WEIGHTS.flip(-1), WEIGHTS, ""),
        (WEIGHTS > 0, WEIGHTS, ""),
        (None, WEIGHTS, ""),
        (2, 3, ""),
    ],
)
def test_describes_wrong_output(value, right, expected):
    assert sentence(value, right) == expected


def test_mentions_sums_only_if_rows_sum_to_1():
    others = (torch.tensor([[5.0]]), torch.tensor([[5.0]]))
    assert sentence(WEIGHTS / 2, WEIGHTS, others) == "Every number is 0.5 times what it should be."


def test_describes_first_wrong_case():
    assert sentence(WEIGHTS, WEIGHTS, (WEIGHTS / 4, WEIGHTS)) == "Your rows sum to 0.25 instead of 1."


def test_mentions_crash_only_if_every_case_crashes():
    crash, right = {"error": {"type": "RuntimeError", "message": "no"}}, {"output": WEIGHTS}
    assert consequence([crash, crash], [right, right]) == "This is why your code crashes."
    assert consequence([crash, right], [right, right]) == ""
