"""What goes wrong in a softmax before the sum: with what is subtracted so that nothing overflows."""

import numpy as np
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
        "subtracts_the_mean",
        STEPS.but(largest=lambda scores: scores.mean(dim=-1, keepdim=True)),
        STEPS.but(largest=lambda scores: scores.mean()),
        STEPS.but(largest=lambda scores: scores.min()),
        does="another number is taken for the largest score",
        says=(
            "Nan comes out for the scores 1000, 0, 0, 0: what is subtracted is not large enough to keep `exp` of the "
            "largest score from overflowing. Look at what is subtracted."
        ),
        hints=["What is the mean of 1000, 0, 0, 0? What is left of the 1000 once it is subtracted?"],
    ),
    Mistake(
        "one_maximum_for_all",
        STEPS.but(largest=lambda scores: scores.max()),
        does="one maximum is taken for all rows",
        says=(
            "One maximum is subtracted from all the rows. Beside a row near 1000, a row near -1000 then becomes "
            "exp(-2000) = 0 everywhere, and 0/0 is nan. Look at whose maximum each row needs."
        ),
        hints=["`scores.max()` without an axis is the largest number of the whole tensor."],
    ),
    Mistake(
        "subtracts_a_thousand",
        STEPS.but(largest=lambda: 1000),
        does="a fixed number is taken for the largest score",
        says=(
            "The same number is subtracted whatever the scores are. If it is far above them, `exp` gives 0 "
            "everywhere, and 0/0 is nan; if it is far below, `exp` overflows. The number has to depend on the scores."
        ),
        hints=["What is `torch.exp(torch.tensor(0.0) - 1000)`?"],
    ),
    Mistake(
        "divides_by_the_maximum",
        STEPS.but(shifted=lambda scores, largest: scores / largest),
        STEPS.but(shifted=lambda scores: scores / scores.max()),
        does="the scores are divided by the maximum",
        says=(
            "The weights of ordinary scores are wrong: a difference of 1 between two scores no longer means a factor "
            "of e between their weights, because the scores are *divided* by the maximum. Look at how the scores are "
            "made smaller."
        ),
        hints=["What are the weights of the scores 0 and 1? And of 0 and 2? Do the second differ more?"],
    ),
    Mistake(
        "clips_the_scores",
        STEPS.but(scores=lambda scores: scores.clamp(-20, 20)),
        STEPS.but(shifted=lambda scores: scores.clamp(max=80)),
        does="large scores are cut down to a bound",
        says=(
            "Nothing overflows, but scores near 1000 all get the same weight: whatever lies beyond the bound is cut "
            "down to it, and the differences are lost. Look for a way that keeps the differences."
        ),
        hints=["What are the weights of 1000 and 1001 when both are cut down to 80?"],
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
        "maximum_of_numpy",
        STEPS.but(largest=lambda scores: np.max(scores, axis=-1, keepdims=True)),
        does="`np.max` is asked for the maximum of a tensor",
        says=(
            "`np.max` hands its arguments on to the tensor, which takes others: it crashes. Look for the maximum of "
            "torch."
        ),
        hints=["`axis` and `keepdims` are numpy's names. What does torch call them?"],
    ),
    Mistake(
        "another_rows_maximum",
        STEPS.but(largest=lambda scores: scores.amax(dim=0)),
        does="the maximum is taken across the rows",
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
        "adds_the_maximum",
        STEPS.but(shifted=lambda scores, largest: scores + largest),
        does="the largest score is added, not subtracted",
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
