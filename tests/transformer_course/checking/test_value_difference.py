"""Tests for describing the difference between two values."""

import pytest
import torch

from transformer_course.checking.value_difference import describe_difference

RIGHT = torch.tensor([[0.2, 0.8], [0.5, 0.5], [0.1, 0.9]])
NUMBERS = torch.tensor([[1.0, -2.0, 3.0, 4.0], [2.0, 5.0, -7.0, 8.0]])
MASK = torch.tensor([[True, False], [True, True]])


@pytest.mark.parametrize(
    ("value", "right", "message"),
    [
        (torch.ones(3), RIGHT, "its shape is (3,) instead of (3, 2)"),
        (NUMBERS * torch.nan, NUMBERS, "it contains NaN"),
        (RIGHT * 3, RIGHT, "one of its rows sums to 3 instead of 1"),
        (
            RIGHT / RIGHT.sum(0),
            RIGHT,
            "one of its rows sums to 0.5341 instead of 1; its columns sum to 1",
        ),
        (NUMBERS * 4, NUMBERS, "every number is 4 times what it should be"),
        (-NUMBERS, NUMBERS, "every number has the wrong sign"),
        (NUMBERS + 2, NUMBERS, "every number is 2 too large"),
        (NUMBERS - 2, NUMBERS, "every number is 2 too small"),
        (~MASK, MASK, "True and False are swapped everywhere"),
        (MASK.tril(), MASK | ~MASK, "at [0, 1] it is False instead of True"),
        (torch.tensor([1.0, 2.0]), torch.tensor([1.0, 3.0]), "it is [1, 2] instead of [1, 3]"),
        (NUMBERS.relu(), NUMBERS, "at [0, 1] it is 0 instead of -2"),
        (NUMBERS.half(), NUMBERS, "its numbers are float16, which keeps only a few digits"),
        (torch.tensor([1.50321, 2.0]), torch.tensor([1.50341, 2.0]), "it is [1.50321, 2] instead of [1.50341, 2]"),
        (RIGHT * 1.0002, RIGHT, "one of its rows sums to 1.0002 instead of 1"),
        (2, 3.5, "it is 2 instead of 3.5"),
        (6.0, 6, "it is the float 6.0 instead of the int 6"),
        (RIGHT - 1, RIGHT - 0.5, "every number is 0.5 too small"),
        ([NUMBERS], NUMBERS, ""),
        (NUMBERS, NUMBERS, ""),
    ],
)
def test_describes_difference(value, right, message):
    assert describe_difference(value, right) == message


def test_ignores_correct_sums_that_are_1_by_chance():
    value, by_chance = torch.tensor([[2.0, -2.0]]), torch.tensor([[0.5, 0.5]])
    assert "rows sums" in describe_difference(value, by_chance, [by_chance, RIGHT])
    assert describe_difference(value, by_chance, [by_chance, NUMBERS]) == "it is [[2, -2]] instead of [[0.5, 0.5]]"
    assert "rows sums" not in describe_difference(value, torch.tensor([[3.0, -2.0]]))
