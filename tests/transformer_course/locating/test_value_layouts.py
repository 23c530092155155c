"""Forms: a right value is recognized transposed, reshaped or in parts, and put back in the form that it had."""

import pytest
import torch

from transformer_course.locating.value_layouts import has_the_shape, in_layout, is_number, is_right, is_right_as_it_is
from transformer_course.running.trace import ValueSequence

RIGHT = torch.arange(6.0).view(2, 3) + 1
HEADS = torch.arange(120.0).view(2, 3, 4, 5)


@pytest.mark.parametrize(
    "values",
    [[RIGHT], [RIGHT.mT], [RIGHT.flatten()], list(RIGHT), list(RIGHT.mT), list(RIGHT.split(1)), [RIGHT + 1e-6]],
)
def test_a_right_value_is_recognized_in_its_forms(values):
    assert is_right(values, RIGHT)


@pytest.mark.parametrize(
    "values", [[], [RIGHT + 1], [RIGHT, RIGHT], [RIGHT[0]], [RIGHT.tolist()], [3], [RIGHT.int()[0]]]
)
def test_other_values_are_not(values):
    assert not is_right(values, RIGHT)


def test_heads_are_recognized_with_their_axes_exchanged():
    assert is_right([HEADS.transpose(1, 2)], HEADS)


def test_a_large_negative_number_does_for_minus_infinity():
    hidden = torch.tensor([1.0, -torch.inf, 2.0])
    assert is_right([torch.tensor([1.0, -1e9, 2.0])], hidden)
    assert not is_right([torch.tensor([1.0, -1e4, 2.0])], hidden)


def test_a_right_value_as_it_is_has_no_other_form():
    assert is_right_as_it_is([RIGHT], RIGHT)
    assert not is_right_as_it_is([RIGHT.mT], RIGHT)


def test_a_right_value_is_put_in_the_form_that_fits():
    assert torch.equal(in_layout([RIGHT.mT + 1], RIGHT), RIGHT.mT)
    assert torch.equal(in_layout([], RIGHT), RIGHT)
    assert in_layout([2], 3) == 3
    turns = in_layout([row + 1 for row in RIGHT], RIGHT)
    assert isinstance(turns, ValueSequence)
    assert torch.equal(torch.stack(list(turns.values)), RIGHT)


def test_a_right_value_that_is_there_in_a_form_that_does_not_fit_is_put_as_it_is():
    assert torch.equal(in_layout([RIGHT.mT], RIGHT), RIGHT)


@pytest.mark.parametrize(
    ("value", "is_one"), [(2, True), (2.5, True), (torch.tensor(2), True), (RIGHT, False), ([2], False)]
)
def test_a_number_is_one_in_a_tensor_too(value, is_one):
    assert is_number(value) == is_one


def test_a_shape_is_that_of_one_value():
    assert has_the_shape([RIGHT + 1], RIGHT)
    assert not has_the_shape([RIGHT, RIGHT], RIGHT)
    assert not has_the_shape([RIGHT.mT], RIGHT)
