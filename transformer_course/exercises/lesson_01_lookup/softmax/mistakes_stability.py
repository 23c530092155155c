"""What goes wrong in a softmax before the sum: with what is subtracted so that nothing overflows."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.softmax.answer import STEPS

MISTAKES = [
    Mistake(
        "overflows",
        STEPS.but(shifted=lambda scores: scores),
        STEPS.but(shifted=lambda scores: scores, total=lambda total: total + 1e-9),
        STEPS.but(shifted=lambda scores: scores, weights=lambda weights: weights.nan_to_num()),
        does="the exponentials overflow where scores are large",
        says=(
            "Right for ordinary scores, but at 1000 `exp` overflows to infinity (and at -1000 every `exp` is 0), and "
            "nothing sensible is left to divide. Look for something that may be subtracted from all scores of a row."
        ),
        hints=["What is `torch.exp(torch.tensor(1000.0))`? And infinity divided by infinity?"],
    ),
    Mistake(
        "maxima_and_their_places",
        STEPS.but(largest=lambda scores: scores.max(dim=-1, keepdim=True)),
        does="what `.max(dim=…)` returns, a pair, is taken for a tensor",
        says=(
            "`.max(dim=…)` gives two things, the largest numbers and where they are, and such a pair cannot be "
            "subtracted: it crashes. Look at what comes out of `max`."
        ),
        hints=["Print `scores.max(dim=-1)`."],
    ),
    Mistake(
        "maximum_of_python",
        STEPS.but(largest=lambda scores: max(scores)),
        does="rows are compared as if each were a number, as Python's own `max` does",
        says=(
            "Python's own `max` goes through the *rows* of a tensor and cannot say which row is the larger one: right "
            "for one row, a crash for several. Look for a maximum that takes an axis."
        ),
        hints=["`max(scores)` compares `scores[0]` with `scores[1]`. What are these for 2 rows of 4 scores?"],
    ),
    Mistake(
        "shifts_only_one",
        STEPS.but(total=lambda scores: torch.exp(scores).sum(dim=-1, keepdim=True)),
        STEPS.but(shares=lambda scores, total: torch.exp(scores) / total),
        does="the maximum is subtracted in the numerator or in the sum, not in both",
        says=(
            "No row adds up to 1: the maximum is subtracted either in the numerator or in the sum, and not in both. "
            "Only if both are shifted does the shift cancel."
        ),
        hints=["Print the row sums of what is returned."],
    ),
    Mistake(
        "subtracts_after_exp",
        STEPS.but(exponentials=lambda scores: torch.exp(scores) - torch.exp(scores).amax(dim=-1, keepdim=True)),
        STEPS.but(exponentials=lambda scores, largest: torch.exp(scores) - largest),
        does="the subtraction comes after `exp`, not before it",
        says=(
            "The subtraction comes after `exp`: numbers that have been made positive are shifted once more. Only in "
            "the exponent does the shift cancel. Look at the order."
        ),
        hints=["exp(s - c) is exp(s) divided by exp(c). And exp(s) - c?"],
    ),
]
