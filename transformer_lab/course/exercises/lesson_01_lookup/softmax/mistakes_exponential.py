"""What goes wrong in a softmax at the exponential: with what makes the numbers positive."""

import math

import torch

from transformer_lab.course.exercise import Mistake


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


def smallest_first(scores):
    exponentials = torch.exp(scores.amax(dim=-1, keepdim=True) - scores)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def smallest_first_by_a_minus(scores):
    exponentials = torch.exp(-scores)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def logarithm(scores):
    return torch.log_softmax(scores, dim=-1)


def exp_of_a_number(scores):
    return math.exp(scores) / math.exp(scores).sum()  # type: ignore[attr-defined]


def one_row_number_by_number(scores):
    exponentials = [math.exp(s) for s in scores]
    return torch.tensor([e / sum(exponentials) for e in exponentials])


def one_row_in_a_list(scores):
    exponentials = [math.exp(s) for s in scores]
    return [e / sum(exponentials) for e in exponentials]


def array_of_numpy(scores):
    import numpy as np  # which the lesson does not

    x = scores.numpy()
    exponentials = np.exp(x - x.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


MISTAKES = [
    Mistake(
        no_exponential,
        "Negative scores give negative weights, and a sum near 0 blows everything up: the scores themselves are "
        "divided. Something has to make the numbers positive first.",
        [
            "What are the weights for the scores [1, -1]? What is wrong with them?",
            "Which function maps every number to a positive one and keeps their order?",
            "Take `torch.exp` first, then divide by the sum.",
        ],
        also=[no_exponential_over_everything],
    ),
    Mistake(
        no_exponential_shifted,
        "No weight is negative, but the largest score gets 0: numbers that are all 0 or below are divided by their "
        "sum, and that turns their order round. Something has to make the numbers positive first.",
        [
            "What are the weights for the scores [2, -1]? Which of the two should be larger?",
            "Which function makes what is left after the subtraction positive, and keeps the order?",
            "`torch.exp` of the shifted scores first, then divide by the sum.",
        ],
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
        smallest_first,
        "The smallest score gets the largest weight: the exponents have the wrong sign. Look at what is subtracted "
        "from what.",
        [
            "What are the weights for the scores [0, 1]? Which of the two should be larger?",
            "In e^s, a larger s gives a larger number. And in e^(-s)?",
            "Each score minus the largest, not the other way round: `scores - scores.amax(dim=-1, keepdim=True)`.",
        ],
        also=[smallest_first_by_a_minus],
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
        also=[one_row_in_a_list],
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
