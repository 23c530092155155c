"""What goes wrong in a softmax before the sum: with what is subtracted so that nothing overflows."""

import torch

from transformer_lab.course.exercise import Mistake


def _shares(exponentials):
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def overflows(scores):
    return _shares(torch.exp(scores))


def overflows_and_never_divides_by_zero(scores):
    exponentials = torch.exp(scores)
    return exponentials / (exponentials.sum(dim=-1, keepdim=True) + 1e-9)


def subtracts_the_mean(scores):
    return _shares(torch.exp(scores - scores.mean(dim=-1, keepdim=True)))


def subtracts_the_mean_of_all(scores):
    return _shares(torch.exp(scores - scores.mean()))


def subtracts_the_minimum(scores):
    return _shares(torch.exp(scores - scores.amin(dim=-1, keepdim=True)))


def one_maximum_for_all(scores):
    return _shares(torch.exp(scores - scores.max()))


def subtracts_a_thousand(scores):
    return _shares(torch.exp(scores - 1000))


def divides_by_the_maximum(scores):
    return _shares(torch.exp(scores / scores.amax(dim=-1, keepdim=True)))


def divides_by_the_maximum_of_all(scores):
    return _shares(torch.exp(scores / scores.max()))


def clips_the_scores(scores):
    return _shares(torch.exp(scores.clamp(-80, 80)))


def clips_large_scores(scores):
    return _shares(torch.exp(scores.clamp(max=80)))


def maxima_and_their_places(scores):
    return _shares(torch.exp(scores - scores.max(dim=-1, keepdim=True)))


def maximum_of_python(scores):
    return _shares(torch.exp(scores - max(scores)))


def maximum_of_numpy(scores):
    import numpy as np  # which the lesson does not

    return _shares(torch.exp(scores - np.max(scores, axis=-1, keepdims=True)))


MISTAKES = [
    Mistake(
        overflows,
        "Right for ordinary scores, but at 1000 `exp` overflows to infinity (and at -1000 every `exp` is 0), and the "
        "division gives nan. Look for something that may be subtracted from all scores of a row.",
        [
            "What is `torch.exp(torch.tensor(1000.0))`? And infinity divided by infinity?",
            "exp(s - c) / Σ exp(s - c) is the same for every number c: exp(-c) cancels. Which c keeps every exponent "
            "at 0 or below?",
            "Subtract each row's own maximum first: `scores.amax(dim=-1, keepdim=True)`.",
        ],
        also=[overflows_and_never_divides_by_zero],
    ),
    Mistake(
        subtracts_the_mean,
        "Nan comes out for the scores 1000, 0, 0, 0: what is subtracted is not large enough to keep `exp` of the "
        "largest score from overflowing. Look at what is subtracted.",
        [
            "What is the mean of 1000, 0, 0, 0? What is left of the 1000 once it is subtracted?",
            "Every exponent has to be 0 or below. For which number is s - c never positive?",
            "Subtract the largest score of the row: `scores.amax(dim=-1, keepdim=True)`.",
        ],
        also=[subtracts_the_mean_of_all, subtracts_the_minimum],
    ),
    Mistake(
        one_maximum_for_all,
        "One maximum is subtracted from all the rows. Beside a row near 1000, a row near -1000 then becomes "
        "exp(-2000) = 0 everywhere, and 0/0 is nan. Look at whose maximum each row needs.",
        [
            "`scores.max()` without an axis is the largest number of the whole tensor.",
            "A row may only be shifted by its own number, and each row may have another.",
            "The maximum along the last axis, kept as a column: `scores.amax(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        subtracts_a_thousand,
        "Right for scores near 1000 only: ordinary scores become exp(-1000) = 0 everywhere, and 0/0 is nan. The number "
        "that is subtracted has to depend on the scores.",
        [
            "What is `torch.exp(torch.tensor(0.0) - 1000)`?",
            "After the subtraction, the largest exponent of every row should be exactly 0.",
            "Subtract the row's own largest score: `scores.amax(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        divides_by_the_maximum,
        "The weights of ordinary scores are wrong: a difference of 1 between two scores no longer means a factor of e "
        "between their weights, because the scores are *divided* by the maximum. Look at how the scores are made "
        "smaller.",
        [
            "What are the weights of the scores 0 and 1? And of 0 and 2? Do the second differ more?",
            "What may be done to all scores of a row without changing the differences between them?",
            "Subtract the maximum instead of dividing by it.",
        ],
        also=[divides_by_the_maximum_of_all],
    ),
    Mistake(
        clips_the_scores,
        "Nothing overflows, but scores near 1000 all get the same weight: whatever lies beyond the bound is cut down "
        "to it, and the differences are lost. Look for a way that keeps the differences.",
        [
            "What are the weights of 1000 and 1001 when both are cut down to 80?",
            "Shifting all scores of a row by one number keeps their differences, and the weights as well.",
            "Shift the largest to 0: subtract `scores.amax(dim=-1, keepdim=True)`.",
        ],
        also=[clips_large_scores],
    ),
    Mistake(
        maxima_and_their_places,
        "`.max(dim=…)` gives two things, the largest numbers and where they are, and such a pair cannot be subtracted: "
        "it crashes. Look at what comes out of `max`.",
        [
            "Print `scores.max(dim=-1)`.",
            "The numbers alone are its `.values`; `amax` gives nothing else in the first place.",
            "`scores - scores.amax(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        maximum_of_python,
        "Python's own `max` goes through the *rows* of a tensor and cannot say which row is the larger one: right for "
        "one row, a crash for several. Look for a maximum that takes an axis.",
        [
            "`max(scores)` compares `scores[0]` with `scores[1]`. What are these for 2 rows of 4 scores?",
            "A tensor has maxima of its own: `.max` and `.amax`, which can go along one axis.",
            "`scores.amax(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        maximum_of_numpy,
        "`np.max` hands its arguments on to the tensor, which takes others: it crashes. Look for the maximum of torch.",
        [
            "`axis` and `keepdims` are numpy's names. What does torch call them?",
            "`dim` and `keepdim`. And of its two functions, `max` gives a pair, `amax` the numbers alone.",
            "`scores.amax(dim=-1, keepdim=True)`.",
        ],
    ),
]
