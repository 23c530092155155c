"""Turn scores into weights."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.call import Case
from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.drawing import generator, normal


def softmax(scores: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Turn scores into weights that are positive and add up to 1 along the last axis."""
    largest = scores.max(dim=-1, keepdim=True).values
    exponentials = torch.exp(scores - largest)  # at most exp(0) = 1, so nothing overflows
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def softmax_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    apart = torch.tensor([[1000.0], [-1000.0], [0.0]])
    return [
        Case({"scores": normal(rng, 3)}, "3 scores"),
        Case({"scores": normal(rng, 2, 2)}, "2 rows of 2 scores"),
        Case({"scores": normal(rng, 2, 4)}, "2 rows of 4 scores"),
        Case({"scores": normal(rng, 5, 3, 2)}, "a batch of 5, 3 rows of 2 scores"),
        Case({"scores": normal(rng, 4) + 1000}, "4 scores near 1000"),
        Case({"scores": normal(rng, 4) - 1000}, "4 scores near -1000"),
        Case({"scores": normal(rng, 3, 5) + apart}, "rows near 1000, -1000 and 0 together"),
        Case({"scores": 3 * normal(rng, 7, 61, 101)}, "a batch of 7, 61 rows of 101 scores"),
    ]


def overflows(scores):
    exponentials = torch.exp(scores)
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def sums_over_everything(scores):
    return torch.exp(scores) / torch.exp(scores).sum()


def sums_over_everything_shifted(scores):
    exponentials = torch.exp(scores - scores.max())
    return exponentials / exponentials.sum()


def first_axis(scores):
    return torch.softmax(scores, dim=0)


def first_axis_by_hand(scores):
    return torch.exp(scores) / torch.exp(scores).sum(dim=0)


def forgets_keepdim(scores):
    exponentials = torch.exp(scores)
    return exponentials / exponentials.sum(dim=-1)


def forgets_keepdim_shifted(scores):
    exponentials = torch.exp(scores - scores.max(dim=-1, keepdim=True).values)
    return exponentials / exponentials.sum(dim=-1)


def no_exponential(scores):
    return scores / scores.sum(dim=-1, keepdim=True)


def one_maximum_for_all(scores):
    exponentials = torch.exp(scores - scores.max())
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def logarithm(scores):
    return torch.log_softmax(scores, dim=-1)


SOFTMAX = Exercise(
    reference=softmax,
    cases=softmax_cases,
    points=2,
    verified="Rows add up to 1 along the last axis for any leading dimensions, and scores of ±1000 survive. "
    "Next: look something up with such weights.",
    hints=[
        "Three steps: make everything positive, add up, divide. Which function makes any number positive and keeps "
        "the order?",
        "Each row along the last axis is normalised on its own: sum with `dim=-1, keepdim=True`.",
        "`exp(1000)` is too large for a float. Subtracting the same number from all the scores of a row changes "
        "nothing in the result; which number makes every exponent at most 0?",
    ],
    mistakes=[
        Mistake(
            overflows,
            "Right for ordinary scores, but at 1000 `exp` overflows to infinity (and at -1000 every `exp` is 0), and "
            "the division gives nan. Look for something you may subtract from all scores of a row.",
            [
                "What is `torch.exp(torch.tensor(1000.0))`? And infinity divided by infinity?",
                "exp(s - c) / Σ exp(s - c) is the same for every number c: exp(-c) cancels. Which c keeps every "
                "exponent at 0 or below?",
                "Subtract each row's own maximum first: `scores.max(dim=-1, keepdim=True).values`.",
            ],
        ),
        Mistake(
            sums_over_everything,
            "You divide by the sum over *all* rows, so only the whole table adds up to 1. Each row should do so by "
            "itself: look at what `.sum()` adds up.",
            [
                "For 2 rows of weights, what should each row add up to? What do yours?",
                "`.sum()` without an axis adds up everything there is.",
                "Sum with `dim=-1, keepdim=True`.",
            ],
            also=[sums_over_everything_shifted],
        ),
        Mistake(
            first_axis,
            "The weights add up to 1 down the columns, not along the rows: the axis is counted from the front. Look at "
            "which axis you normalise.",
            [
                "Print `softmax(scores).sum(dim=-1)` for 2 rows of 4 scores.",
                "Negative axes count from the end. Which number names the last axis, however many there are?",
                "Use `dim=-1` everywhere.",
            ],
            also=[first_axis_by_hand],
        ),
        Mistake(
            forgets_keepdim,
            "One row alone works, but with several the sums are lined up with the wrong axis: a square table divides "
            "silently by the wrong sums, any other crashes. Look at the shape of the sum you divide by.",
            [
                "For scores of shape (2, 4), what shape has `exponentials.sum(dim=-1)`? How is it broadcast?",
                "Broadcasting lines shapes up from the right: (2, 4) and (2,) do not fit, (2, 4) and (2, 1) do.",
                "`keepdim=True` leaves the summed axis in place with length 1.",
            ],
            also=[forgets_keepdim_shifted],
        ),
        Mistake(
            no_exponential,
            "The rows add up to 1, but negative scores give negative weights, and a sum near 0 blows everything up. "
            "Something has to make the numbers positive before you divide.",
            [
                "What are your weights for the scores [1, -1]? Which problem do you see?",
                "Which function maps every number to a positive one and keeps their order?",
                "Take `torch.exp` first, then divide by the sum.",
            ],
        ),
        Mistake(
            one_maximum_for_all,
            "You subtract one maximum from all the rows. Beside a row near 1000, a row near -1000 then becomes "
            "exp(-2000) = 0 everywhere, and 0/0 is nan. Look at whose maximum each row needs.",
            [
                "`scores.max()` without an axis is the largest number of the whole tensor.",
                "A row may only be shifted by its own number, and each row may have another.",
                "`scores.max(dim=-1, keepdim=True).values`.",
            ],
        ),
        Mistake(
            logarithm,
            "These are the logarithms of the weights: all negative. Their `exp` would add up to 1.",
            [
                "Can a weight be negative?",
                "You are one function away from the answer, or took one too many.",
                "Return exponentials divided by their sum, without a logarithm.",
            ],
        ),
    ],
)
