"""What goes wrong in a softmax at the exponential: with what makes the numbers positive."""

import math

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_01_lookup.softmax.answer import STEPS

MISTAKES = [
    Mistake(
        "no_exponential",
        [STEPS.but(shifted=lambda scores: scores, exponentials=lambda shifted: shifted)],
        does="the scores themselves are divided, without `exp`",
        says=(
            "Negative scores give negative weights, and a sum near 0 blows everything up: the scores themselves are "
            "divided. Something has to make the numbers positive first."
        ),
        hints=[
            "What are the weights for the scores [1, -1]? What is wrong with them?",
            "Which function maps every number to a positive one and keeps their order?",
            "Take `torch.exp` first, then divide by the sum.",
        ],
    ),
    Mistake(
        "no_exponential_shifted",
        [STEPS.but(exponentials=lambda shifted: shifted)],
        does="`exp` is missing after the subtraction",
        says=(
            "No weight is negative, but the largest score gets 0: numbers that are all 0 or below are divided by their "
            "sum, and that turns their order round. Something has to make the numbers positive first."
        ),
        hints=[
            "What are the weights for the scores [2, -1]? Which of the two should be larger?",
            "Which function makes what is left after the subtraction positive, and keeps the order?",
            "`torch.exp` of the shifted scores first, then divide by the sum.",
        ],
    ),
    Mistake(
        "absolute_values",
        [
            STEPS.but(exponentials=lambda scores: scores.abs()),
            STEPS.but(exponentials=lambda scores: scores**2),
            STEPS.but(exponentials=lambda scores: torch.relu(scores)),
        ],
        does="the numbers are made positive by something that loses the order of the scores",
        says=(
            "All weights are positive, but -2 gets as much as 2: the order of the scores is lost. Look for another way to "
            "make the numbers positive."
        ),
        hints=[
            "What are the weights for the scores [2, -2]? Which of the two should be larger?",
            "Which function maps every number to a positive one, and a larger one to a larger one?",
            "`torch.exp` in place of the absolute value or the square.",
        ],
    ),
    Mistake(
        "smallest_first",
        [
            STEPS.but(shifted=lambda scores, largest: largest - scores),
            STEPS.but(shifted=lambda scores: -scores),
            STEPS.but(shifted=lambda scores: scores.amin(dim=-1, keepdim=True) - scores),
        ],
        does="the exponents have the wrong sign",
        says=(
            "The smallest score gets the largest weight: the exponents have the wrong sign. Look at what is subtracted "
            "from what."
        ),
        hints=[
            "What are the weights for the scores [0, 1]? Which of the two should be larger?",
            "In e^s, a larger s gives a larger number. And in e^(-s)?",
            "Each score minus the largest, not the other way round: `scores - scores.amax(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "logarithm",
        [
            STEPS.but(weights=lambda shifted, total: shifted - total.log()),
            STEPS.but(weights=lambda exponentials, total: (exponentials / total).log()),
        ],
        does="a logarithm is taken of the result",
        says="These are the logarithms of the weights: all negative. Their `exp` would add up to 1.",
        hints=[
            "Can a weight be negative?",
            "There is one function too few, or one too many.",
            "Return exponentials divided by their sum, without a logarithm.",
        ],
    ),
    Mistake(
        "exp_of_a_number",
        [STEPS.but(exponentials=lambda scores: math.exp(scores))],
        does="`math.exp` is given a whole tensor",
        says=(
            "`math.exp` takes a single number, and `scores` is a tensor: it crashes. Look for the `exp` that takes a whole "
            "tensor."
        ),
        hints=[
            "The functions of `math` know nothing of tensors. Which module has functions that do?",
            "It has an `exp` of its own, which works on every entry.",
            "`torch.exp(scores)`.",
        ],
    ),
    Mistake(
        "one_row_number_by_number",
        [
            STEPS.but(
                exponentials=lambda scores: [math.exp(s) for s in scores],
                total=lambda exponentials: sum(exponentials),
                weights=lambda exponentials, total: torch.tensor([e / total for e in exponentials]),
            ),
            STEPS.but(
                exponentials=lambda scores: [math.exp(s) for s in scores],
                total=lambda exponentials: sum(exponentials),
                weights=lambda exponentials, total: [e / total for e in exponentials],
            ),
        ],
        does="a loop goes through the rows as if they were numbers",
        says=(
            "Ordinary scores of a single row come out right. Several rows crash, because a row is not a number, and so do "
            "scores of ±1000. Look for functions that take a whole tensor."
        ),
        hints=[
            "What is one `s` of `for s in scores` when there are 2 rows?",
            "`torch.exp(scores)` takes every entry at once, and `.sum(dim=-1, keepdim=True)` adds up each row.",
            "With these there is no loop. And for ±1000, subtract `scores.amax(dim=-1, keepdim=True)` first.",
        ],
    ),
    Mistake(
        "array_of_numpy",
        [STEPS.but(weights=lambda weights: weights.numpy())],
        does="an array of numpy comes out",
        says=(
            "An array of numpy comes out. A tensor is asked for: no gradient can pass through an array, so nothing before "
            "this step could be trained. Look at where the tensor is left."
        ),
        hints=[
            "Which line turns the tensor into an array?",
            "Each step has a function of the same name in torch: `exp`, `sum`, `amax`.",
            "Leave `.numpy()` out, and write `torch.exp`, `dim` and `keepdim`.",
        ],
    ),
]
