"""A wrong output that is the right one but for a factor, a constant or an exchange is told so, and no other is."""

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
        (RIGHT.mT, "These are the right values with the last two axes swapped."),
        (RIGHT.flip(0), "These are the right numbers in the wrong places."),
    ],
)
def test_a_simple_relation_is_told(observed, message):
    assert explain_relation(observed, RIGHT) == message
    assert explain_relation(observed.expand(2, 3, 3), RIGHT.expand(2, 3, 3)) == message


def test_relations_of_masks_and_of_whole_numbers_are_told():
    mask = RIGHT > 0
    assert explain_relation(~mask, mask) == "True and False are swapped everywhere."
    assert explain_relation(mask.mT, mask) == "These are the right values with the last two axes swapped."
    assert explain_relation(torch.tensor([1, 2, 3]), torch.tensor([0, 1, 2])) == ("Every number is 1 too large.")


@pytest.mark.parametrize(
    "observed",
    [
        RIGHT.where(RIGHT != 3, -3.0),  # all but one
        2 * RIGHT + 1,
        torch.zeros(3, 3),
        RIGHT * torch.nan,
        RIGHT.softmax(dim=-1),
        RIGHT + 0.01 * RIGHT.sin(),
        1.0003 * RIGHT,  # would be called 1 times
    ],
)
def test_nothing_is_told_where_no_relation_holds_for_every_number(observed):
    assert explain_relation(observed, RIGHT) == ""


@pytest.mark.parametrize(
    ("observed", "right"),
    [
        ([0.06245, 0.0039], [0.0625, 0.00390625]),  # by factors of 0.9992 and 0.9984
        ([1.0, 0.500013, 0.250012], [1.0, 0.5, 0.25]),  # by 0.000013 and less
    ],
)
def test_numbers_that_are_nearly_right_have_no_relation_that_only_the_tolerance_allows(observed, right):
    assert explain_relation(torch.tensor(observed), torch.tensor(right)) == ""


def test_nothing_is_told_of_one_number_or_of_a_constant():
    assert explain_relation(torch.tensor(4.0), torch.tensor(2.0)) == ""
    assert explain_relation(torch.tensor([4.0, 4.0]), torch.tensor([2.0, 2.0])) == ""
    assert explain_relation(torch.tensor([False, False]), torch.tensor([True, True])) == ""
    endless = torch.tensor([-torch.inf, 1.0])
    assert explain_relation(torch.tensor([0.0, 2.0]), endless) == explain_relation(endless, RIGHT[0, :2]) == ""
