"""What goes wrong in a softmax at the exponential: with what makes the numbers positive."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.softmax.answer import STEPS

MISTAKES = [
    Mistake(
        "logarithm",
        STEPS.but(shares=lambda shifted, total: shifted - total.log()),
        STEPS.but(weights=lambda weights: weights.log()),
        does="a logarithm is taken of the result",
        says="These are the logarithms of the weights: all negative. Their `exp` would add up to 1.",
        hints=["Can a weight be negative?"],
    ),
    Mistake(
        "one_row_number_by_number",
        STEPS.but(
            exponentials=lambda scores: [math.exp(s) for s in scores],
            total=lambda exponentials: sum(exponentials),
            shares=lambda exponentials, total: torch.tensor([e / total for e in exponentials]),
        ),
        STEPS.but(
            exponentials=lambda shifted: [math.exp(s) for s in shifted],
            total=lambda exponentials: sum(exponentials),
            shares=lambda exponentials, total: torch.tensor([e / total for e in exponentials]),
        ),
        STEPS.but(
            exponentials=lambda scores: [math.exp(s) for s in scores],
            total=lambda exponentials: sum(exponentials),
            shares=lambda exponentials, total: [e / total for e in exponentials],
        ),
        does="`math.exp` is taken of one entry of `scores` after another, as if each were a number",
        says=(
            "Scores of a single row are numbers, one after another; of several rows, each entry is a whole row, and "
            "`math.exp` of a row crashes. Look for functions that take a whole tensor."
        ),
        hints=["What is one `s` of `for s in scores` when there are 2 rows?"],
    ),
    Mistake(
        "sigmoid_of_each",
        STEPS.but(shares=lambda scores: torch.sigmoid(scores)),
        STEPS.but(shares=lambda scores: torch.exp(scores) / (1 + torch.exp(scores))),
        does="each score is put through a sigmoid by itself",
        says=(
            "Each number lies between 0 and 1, and no row adds up to 1: a sigmoid takes each score by itself. The "
            "scores of a row should share 1 between them."
        ),
        hints=["If one score of a row rises, what should become of the other weights? What does?"],
    ),
]
