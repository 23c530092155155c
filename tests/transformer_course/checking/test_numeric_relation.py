"""Tests for finding a factor, an offset or a permutation that relates two outputs."""

import pytest
import torch

from transformer_course.checking.numeric_relation import explain_relation

RIGHT = torch.tensor([[0.5, -1.25, 2.0], [3.0, 0.0, -0.75], [1.5, 0.25, -2.0]])


@pytest.mark.parametrize(
    ("observed", "message"),
    [
        (2**0.5 * RIGHT, "Every number is 1.414 times (√2) what it should be."),
        (-2 * RIGHT, "Every number is -2 times what it should be."),
        (-RIGHT, "Every number has the wrong sign."),
        (RIGHT + 0.5, "Every number is 0.5 too large."),
        (RIGHT - 3, "Every number is 3 too small."),
        (RIGHT.mT, "These are the right values with the last two dimensions swapped."),
        (RIGHT.flip(0), "These are the right numbers in the wrong places."),
    ],
)
def test_describes_simple_relation(observed, message):
    assert explain_relation(observed, RIGHT) == message
    assert explain_relation(observed.expand(2, 3, 3), RIGHT.expand(2, 3, 3)) == message


def test_describes_relations_between_masks_or_integers():
    mask = RIGHT > 0
    assert explain_relation(~mask, mask) == "True and False are swapped everywhere."
    assert explain_relation(mask.mT, mask) == "These are the right values with the last two dimensions swapped."
    assert explain_relation(torch.tensor([1, 2, 3]), torch.tensor([0, 1, 2])) == ("Every number is 1 too large.")


@pytest.mark.parametrize(
    "observed",
    [
        RIGHT.where(RIGHT != 3, -3.0),  # the relation holds for all numbers except one
        2 * RIGHT + 1,
        torch.zeros(3, 3),
        RIGHT * torch.nan,
        RIGHT.softmax(dim=-1),
        RIGHT + 0.01 * RIGHT.sin(),
        1.0003 * RIGHT,  # the factor would round to 1
    ],
)
def test_returns_nothing_if_one_number_violates_relation(observed):
    assert explain_relation(observed, RIGHT) == ""


@pytest.mark.parametrize(
    ("observed", "right"),
    [
        ([0.06245, 0.0039], [0.0625, 0.00390625]),  # factors of 0.9992 and 0.9984
        ([1.0, 0.500013, 0.250012], [1.0, 0.5, 0.25]),  # offsets of at most 0.000013
    ],
)
def test_rejects_relations_that_hold_only_approximately(observed, right):
    assert explain_relation(torch.tensor(observed), torch.tensor(right)) == ""


def test_returns_nothing_for_constant_or_infinite_tensors():
    assert explain_relation(torch.tensor(4.0), torch.tensor(2.0)) == ""
    assert explain_relation(torch.tensor([4.0, 4.0]), torch.tensor([2.0, 2.0])) == ""
    assert explain_relation(torch.tensor([False, False]), torch.tensor([True, True])) == ""
    infinite = torch.tensor([-torch.inf, 1.0])
    assert explain_relation(torch.tensor([0.0, 2.0]), infinite) == explain_relation(infinite, RIGHT[0, :2]) == ""
