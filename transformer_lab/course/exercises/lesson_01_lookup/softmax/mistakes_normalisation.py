"""What goes wrong in a softmax at the sum: with its axis, and with the division."""

import torch

from transformer_lab.course.exercise import Mistake


def _shifted(scores):
    return torch.exp(scores - scores.amax(dim=-1, keepdim=True))


def sums_over_everything(scores):
    return torch.exp(scores) / torch.exp(scores).sum()


def sums_over_everything_shifted(scores):
    exponentials = torch.exp(scores - scores.max())
    return exponentials / exponentials.sum()


def sums_over_everything_each_row_shifted(scores):
    return _shifted(scores) / _shifted(scores).sum()


def first_axis(scores):
    return torch.softmax(scores, dim=0)


def first_axis_by_hand(scores):
    return torch.exp(scores) / torch.exp(scores).sum(dim=0)


def first_axis_each_row_shifted(scores):
    return _shifted(scores) / _shifted(scores).sum(dim=0)


def first_axis_all_shifted(scores):
    exponentials = torch.exp(scores - scores.max())
    return exponentials / exponentials.sum(dim=0)


def second_axis(scores):
    return torch.softmax(scores, dim=1)


def second_axis_by_hand(scores):
    return torch.exp(scores) / torch.exp(scores).sum(dim=1, keepdim=True)


def second_axis_each_row_shifted(scores):
    return _shifted(scores) / _shifted(scores).sum(dim=1, keepdim=True)


def second_axis_all_shifted(scores):
    exponentials = torch.exp(scores - scores.max())
    return exponentials / exponentials.sum(dim=1, keepdim=True)


def forgets_keepdim(scores):
    return torch.exp(scores) / torch.exp(scores).sum(dim=-1)


def forgets_keepdim_shifted(scores):
    return _shifted(scores) / _shifted(scores).sum(dim=-1)


def forgets_keepdim_of_the_maximum(scores):
    exponentials = torch.exp(scores - scores.amax(dim=-1))
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def forgets_keepdim_twice(scores):
    exponentials = torch.exp(scores - scores.amax(dim=-1))
    return exponentials / exponentials.sum(dim=-1)


def forgets_keepdim_all_shifted(scores):
    exponentials = torch.exp(scores - scores.max())
    return exponentials / exponentials.sum(dim=-1)


def no_division(scores):
    return torch.exp(scores)


def no_division_shifted(scores):
    return _shifted(scores)


MISTAKES = [
    Mistake(
        sums_over_everything,
        "Only the whole table adds up to 1: the sum in the division runs over *all* rows. Each row should add up to 1 "
        "by itself. Look at what `.sum()` adds up.",
        [
            "For 2 rows of weights, what should each row add up to? What does it?",
            "`.sum()` without an axis adds up everything there is.",
            "Sum with `dim=-1, keepdim=True`.",
        ],
        also=[sums_over_everything_shifted, sums_over_everything_each_row_shifted],
    ),
    Mistake(
        first_axis,
        "The weights add up to 1 down the columns, not along the rows: the axis is counted from the front. Look at "
        "which axis is normalised.",
        [
            "Print `softmax(scores).sum(dim=-1)` for 2 rows of 4 scores.",
            "Negative axes count from the end. Which number names the last axis, however many there are?",
            "Use `dim=-1` everywhere.",
        ],
        also=[first_axis_by_hand, first_axis_each_row_shifted, first_axis_all_shifted],
    ),
    Mistake(
        second_axis,
        "Right for a table; a single row has no axis 1, which crashes, and with a batch in front axis 1 is not the "
        "last: the axis is counted from the front. Look at how the axis is named.",
        [
            "In a table of shape (2, 4) the last axis is number 1. Which is it in (5, 3, 2), and in (3,)?",
            "Negative numbers count from the end.",
            "Use `dim=-1` everywhere.",
        ],
        also=[second_axis_by_hand, second_axis_each_row_shifted, second_axis_all_shifted],
    ),
    Mistake(
        forgets_keepdim,
        "One row alone works, but with several each number meets the sum or the maximum of another row: a square table "
        "goes wrong silently, any other crashes. Look at the shape that `sum` and the maximum leave behind.",
        [
            "For scores of shape (2, 4), what shape has `exponentials.sum(dim=-1)`? How is it broadcast?",
            "Broadcasting lines shapes up from the right: (2, 4) and (2,) do not fit, (2, 4) and (2, 1) do.",
            "`keepdim=True` leaves the axis in place with length 1.",
        ],
        also=[
            forgets_keepdim_shifted,
            forgets_keepdim_of_the_maximum,
            forgets_keepdim_twice,
            forgets_keepdim_all_shifted,
        ],
    ),
    Mistake(
        no_division,
        "The numbers are positive, but rows do not add up to 1. One step is missing.",
        [
            "Print the row sums of what is returned.",
            "What makes shares of a list of positive numbers?",
            "Divide by the sum of the row: `.sum(dim=-1, keepdim=True)`.",
        ],
        also=[no_division_shifted],
    ),
]
