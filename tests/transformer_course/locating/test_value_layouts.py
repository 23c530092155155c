"""Tests for matching a correct value in a different layout, such as transposed, reshaped or sliced."""

import pytest
import torch

from transformer_course.locating.value_layouts import has_same_shape, in_layout, is_number, matches, matches_exactly
from transformer_course.running.trace_recorder import ValueSequence

RIGHT = torch.arange(6.0).view(2, 3) + 1
HEADS = torch.arange(120.0).view(2, 3, 4, 5)


@pytest.mark.parametrize(
    "values",
    [[RIGHT], [RIGHT.mT], [RIGHT.flatten()], list(RIGHT), list(RIGHT.mT), list(RIGHT.split(1)), [RIGHT + 1e-6]],
)
def test_matches_correct_value_in_every_layout(values):
    assert matches(values, RIGHT)


@pytest.mark.parametrize(
    "values", [[], [RIGHT + 1], [RIGHT, RIGHT], [RIGHT[0]], [RIGHT.tolist()], [3], [RIGHT.int()[0]]]
)
def test_rejects_values_that_differ(values):
    assert not matches(values, RIGHT)


def test_matches_heads_with_swapped_dimensions():
    assert matches([HEADS.transpose(1, 2)], HEADS)


def test_large_negative_number_matches_minus_infinity():
    hidden = torch.tensor([1.0, -torch.inf, 2.0])
    assert matches([torch.tensor([1.0, -1e9, 2.0])], hidden)
    assert not matches([torch.tensor([1.0, -1e4, 2.0])], hidden)


def test_exact_match_rejects_different_layouts():
    assert matches_exactly([RIGHT], RIGHT)
    assert not matches_exactly([RIGHT.mT], RIGHT)


def test_converts_value_to_fitting_layout():
    assert torch.equal(in_layout([RIGHT.mT + 1], RIGHT), RIGHT.mT)
    assert torch.equal(in_layout([], RIGHT), RIGHT)
    assert in_layout([2], 3) == 3
    rows = in_layout([row + 1 for row in RIGHT], RIGHT)
    assert isinstance(rows, ValueSequence)
    assert torch.equal(torch.stack(list(rows.values)), RIGHT)


def test_keeps_correct_value_whose_layout_differs():
    assert torch.equal(in_layout([RIGHT.mT], RIGHT), RIGHT)


@pytest.mark.parametrize(
    ("value", "expected"), [(2, True), (2.5, True), (torch.tensor(2), True), (RIGHT, False), ([2], False)]
)
def test_is_number_accepts_tensor_without_dimensions(value, expected):
    assert is_number(value) == expected


def test_same_shape_requires_a_single_value():
    assert has_same_shape([RIGHT + 1], RIGHT)
    assert not has_same_shape([RIGHT, RIGHT], RIGHT)
    assert not has_same_shape([RIGHT.mT], RIGHT)
