"""What goes wrong in a softmax at the sum: with the exponentials, the axis, and the division."""

import math

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


def second_axis(scores):
    return torch.softmax(scores, dim=1)


def second_axis_by_hand(scores):
    return torch.exp(scores) / torch.exp(scores).sum(dim=1, keepdim=True)


def second_axis_each_row_shifted(scores):
    return _shifted(scores) / _shifted(scores).sum(dim=1, keepdim=True)


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


def no_exponential(scores):
    return scores / scores.sum(dim=-1, keepdim=True)


def no_exponential_over_everything(scores):
    return scores / scores.sum()


def no_exponential_shifted(scores):
    shifted = scores - scores.amax(dim=-1, keepdim=True)
    return shifted / shifted.sum(dim=-1, keepdim=True)


def absolute_values(scores):
    return scores.abs() / scores.abs().sum(dim=-1, keepdim=True)


def squares(scores):
    return scores**2 / (scores**2).sum(dim=-1, keepdim=True)


def no_division(scores):
    return torch.exp(scores)


def no_division_shifted(scores):
    return _shifted(scores)


def logarithm(scores):
    return torch.log_softmax(scores, dim=-1)


def exp_of_a_number(scores):
    return math.exp(scores) / math.exp(scores).sum()  # type: ignore[attr-defined]


def one_row_number_by_number(scores):
    exponentials = [math.exp(s.detach()) for s in scores]
    return torch.tensor([e / sum(exponentials) for e in exponentials])


def array_of_numpy(scores):
    import numpy as np  # which the lesson does not

    x = scores.numpy()
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


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
        also=[first_axis_by_hand, first_axis_each_row_shifted],
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
        also=[second_axis_by_hand, second_axis_each_row_shifted],
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
        also=[forgets_keepdim_shifted, forgets_keepdim_of_the_maximum, forgets_keepdim_twice],
    ),
    Mistake(
        no_exponential,
        "Negative scores give negative weights, and a sum near 0 blows everything up: the scores themselves are "
        "divided. Something has to make the numbers positive first.",
        [
            "What are the weights for the scores [1, -1]? What is wrong with them?",
            "Which function maps every number to a positive one and keeps their order?",
            "Take `torch.exp` first, then divide by the sum.",
        ],
        also=[no_exponential_over_everything, no_exponential_shifted],
    ),
    Mistake(
        absolute_values,
        "All weights are positive, but -2 gets as much as 2: the order of the scores is lost. Look for another way to "
        "make the numbers positive.",
        [
            "What are the weights for the scores [2, -2]? Which of the two should be larger?",
            "Which function maps every number to a positive one, and a larger one to a larger one?",
            "`torch.exp` in place of the absolute value or the square.",
        ],
        also=[squares],
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
    Mistake(
        logarithm,
        "These are the logarithms of the weights: all negative. Their `exp` would add up to 1.",
        [
            "Can a weight be negative?",
            "There is one function too few, or one too many.",
            "Return exponentials divided by their sum, without a logarithm.",
        ],
    ),
    Mistake(
        exp_of_a_number,
        "`math.exp` takes a single number, and `scores` is a tensor: it crashes. Look for the `exp` that takes a whole "
        "tensor.",
        [
            "The functions of `math` know nothing of tensors. Which module has functions that do?",
            "It has an `exp` of its own, which works on every entry.",
            "`torch.exp(scores)`.",
        ],
    ),
    Mistake(
        one_row_number_by_number,
        "Ordinary scores of a single row come out right. Several rows crash, because a row is not a number, and so do "
        "scores of ±1000. Look for functions that take a whole tensor.",
        [
            "What is one `s` of `for s in scores` when there are 2 rows?",
            "`torch.exp(scores)` takes every entry at once, and `.sum(dim=-1, keepdim=True)` adds up each row.",
            "With these there is no loop. And for ±1000, subtract `scores.amax(dim=-1, keepdim=True)` first.",
        ],
    ),
    Mistake(
        array_of_numpy,
        "An array of numpy comes out. A tensor is asked for: no gradient can pass through an array, so nothing before "
        "this step could be trained. Look at where the tensor is left.",
        [
            "Which line turns the tensor into an array?",
            "Each step has a function of the same name in torch: `exp`, `sum`, `amax`.",
            "Leave `.numpy()` out, and write `torch.exp`, `dim` and `keepdim`.",
        ],
    ),
]
