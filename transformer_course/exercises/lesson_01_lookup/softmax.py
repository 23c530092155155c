"""Turn scores into weights."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def softmax(scores: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Turn scores into weights that are positive and add up to 1 along the last axis."""
    largest = scores.max(dim=-1, keepdim=True).values
    exponentials = torch.exp(scores - largest)  # at most exp(0) = 1, so nothing overflows
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def axis():
    """choose the last axis → the axis along which each row lies"""
    return -1


def largest(scores, axis):
    """find the largest score of each row → the largest score of each row, as a column"""
    return scores.amax(dim=axis, keepdim=True)


def shifted(scores, largest):
    """subtract it → the shifted scores: the largest of each row is 0"""
    return scores - largest


def exponentials(shifted):
    """take `exp` of each number → the exponentials of the shifted scores"""
    return torch.exp(shifted)


def total(exponentials, axis):
    """add up each row → the sum of each row, as a column"""
    return exponentials.sum(dim=axis, keepdim=True)


def shares(exponentials, total):
    """divide by the sum → the quotients: each exponential divided by the sum of its row"""
    return exponentials / total


def weights(shares):
    """return a tensor of the scores' shape → the weights"""
    return shares


STEPS = InSteps(axis, largest, shifted, exponentials, total, shares, weights, reference=softmax)


def softmax_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    apart = torch.tensor([[1000.0], [-1000.0], [0.0]])
    alone = torch.tensor([1000.0, 0.0, 0.0, 0.0])
    return [
        Case({"scores": torch.tensor([0.0, 1.0, -1.0])}, "the scores 0, 1 and -1"),
        Case({"scores": torch.tensor([[2.0, 2.0], [0.0, 0.0]])}, "2 rows of equal scores"),
        Case({"scores": normal(rng, 3)}, "3 scores"),
        Case({"scores": normal(rng, 2, 2)}, "2 rows of 2 scores"),
        Case({"scores": normal(rng, 2, 4)}, "2 rows of 4 scores"),
        Case({"scores": normal(rng, 5, 3, 2)}, "a batch of 5, 3 rows of 2 scores"),
        Case({"scores": normal(rng, 4) + 1000}, "4 scores near 1000"),
        Case({"scores": normal(rng, 4) + alone}, "one score near 1000 and 3 near 0"),
        Case({"scores": normal(rng, 3, 5) + apart}, "rows near 1000, -1000 and 0 together"),
        Case({"scores": 3 * normal(rng, 7, 61, 101)}, "a batch of 7, 61 rows of 101 scores"),
    ]


MISTAKES = [
    Mistake(
        "logarithm",
        STEPS.but(shares=lambda shifted, total: shifted - total.log()),
        STEPS.but(weights=lambda weights: weights.log()),
        summary="a logarithm is taken of the result",
        message="These are the logarithms of the weights: all negative. Their `exp` would add up to 1.",
        hints=["Can a weight be negative?"],
    ),
    Mistake(
        "sigmoid_of_each",
        STEPS.but(shares=lambda scores: torch.sigmoid(scores)),
        STEPS.but(shares=lambda scores: torch.exp(scores) / (1 + torch.exp(scores))),
        summary="each score is put through a sigmoid by itself",
        message=(
            "Each number lies between 0 and 1, and no row adds up to 1: a sigmoid takes each score by itself. The "
            "scores of a row should share 1 between them."
        ),
        hints=["If one score of a row rises, what should become of the other weights? What does?"],
    ),
    Mistake(
        "sums_over_everything",
        STEPS.but(total=lambda exponentials: exponentials.sum()),
        STEPS.but(largest=lambda scores: scores.max(), total=lambda exponentials: exponentials.sum()),
        summary="the sum runs over *all* rows",
        message=(
            "Only the whole table adds up to 1: {summary}. Each row should add up to 1 by itself. Look at what "
            "`.sum()` adds up."
        ),
        hints=["For 2 rows of weights, what should each row add up to? What does it?"],
    ),
    Mistake(
        "first_axis",
        STEPS.but(axis=lambda: 0),
        STEPS.but(total=lambda exponentials: exponentials.sum(dim=0)),
        summary="the sum runs along the first axis, not along the last",
        message=(
            "It is along the first axis that numbers are added up and divided, down the columns of a table and not "
            "along its rows. Look at which axis is normalized."
        ),
        hints=["Print `softmax(scores).sum(dim=-1)` for 2 rows of 4 scores."],
    ),
    Mistake(
        "no_axis_named",
        STEPS.but(axis=lambda scores: 0 if scores.dim() in (0, 1, 3) else 1),
        summary="the axis of the softmax is the first or the second, by the number of axes",
        message=(
            "Right for one row and for one table; with a batch in front, it is the first axis that adds up to 1. That "
            "is the axis torch chooses when none is named (and it warns of it)."
        ),
        hints=["What do the rows add up to, for scores of shape (5, 3, 2)?"],
    ),
    Mistake(
        "sums_without_their_axis",
        STEPS.but(total=lambda exponentials, axis: exponentials.sum(dim=axis)),
        summary="the sums lose the axis along which they run",
        message=(
            "A single row works, and a table does not: {summary}, so the sums of the rows meet the columns. Look for "
            "what keeps it."
        ),
        hints=["For scores of shape (2, 4), what is the shape of the sums? And what should it be, to divide each row?"],
    ),
    Mistake(
        "largest_without_its_axis",
        STEPS.but(largest=lambda scores, axis: scores.amax(dim=axis)),
        summary="the largest scores lose the axis along which they are looked for",
        message=(
            "A single row works, and a table does not: {summary}, so those of the rows meet the columns. Look for what "
            "keeps it."
        ),
        hints=["For scores of shape (2, 4), what is the shape of the largest scores? And what should it be?"],
    ),
    Mistake(
        "rows_in_a_loop",
        STEPS.but(
            shares=lambda scores: torch.stack(
                [torch.exp(row - row.max()) / torch.exp(row - row.max()).sum() for row in scores]
            )
        ),
        summary="what is taken for one row is each entry along the *first* axis",
        message=(
            "Right for one table only: what is taken for a row is each entry along the *first* axis. Of a single row "
            "that is one number, and of a batch a whole table. Look for a way that needs no loop over the rows."
        ),
        hints=["What is one `row` of `for row in scores` when scores have the shape (3,)? And (5, 3, 2)?"],
    ),
    Mistake(
        "overflows",
        STEPS.but(shifted=lambda scores: scores),
        STEPS.but(shifted=lambda scores: scores, weights=lambda weights: weights.nan_to_num()),
        summary="the exponentials overflow where scores are large",
        message=(
            "Right for ordinary scores, but at 1000 `exp` overflows to infinity (and at -1000 every `exp` is 0), and "
            "nothing sensible is left to divide. Look for something that may be subtracted from all scores of a row."
        ),
        hints=["What is `torch.exp(torch.tensor(1000.0))`? And infinity divided by infinity?"],
    ),
    Mistake(
        "shifts_only_one",
        STEPS.but(total=lambda scores: torch.exp(scores).sum(dim=-1, keepdim=True)),
        STEPS.but(shares=lambda scores, total: torch.exp(scores) / total),
        summary="the maximum is subtracted in the numerator or in the sum, not in both",
        message=(
            "No row adds up to 1: the maximum is subtracted either in the numerator or in the sum, and not in both. "
            "Only if both are shifted does the shift cancel."
        ),
        hints=["Print the row sums of what is returned."],
    ),
    Mistake(
        "subtracts_after_exp",
        STEPS.but(exponentials=lambda scores: torch.exp(scores) - torch.exp(scores).amax(dim=-1, keepdim=True)),
        STEPS.but(exponentials=lambda scores, largest: torch.exp(scores) - largest),
        summary="the subtraction comes after `exp`, not before it",
        message=(
            "The subtraction comes after `exp`: numbers that have been made positive are shifted once more. Only in "
            "the exponent does the shift cancel. Look at the order."
        ),
        hints=["exp(s - c) is exp(s) divided by exp(c). And exp(s) - c?"],
    ),
]

EXERCISE = Exercise(
    reference=softmax,
    steps=STEPS,
    may_cut_gradients=True,
    cases=softmax_cases,
    points=2,
    verified="Rows add up to 1 along the last axis for any leading dimensions, and scores of ±1000 survive.",
    hints=[
        "Three steps: make everything positive, add up, divide. Which function makes any number positive and keeps "
        "the order?",
        "Each row along the last axis is normalized on its own: sum with `dim=-1, keepdim=True`.",
        "`exp(1000)` is too large for a float. Subtracting the same number from all the scores of a row changes "
        "nothing in the result; which number makes every exponent at most 0?",
        "`scores.amax(dim=-1, keepdim=True)` is the largest score of each row; `scores.max(dim=-1, keepdim=True)` "
        "would give a pair, the scores and where they are.",
    ],
    messages={
        "sibling_largest": (
            "What is subtracted from each row is not its largest score, so of some rows the exponentials are still "
            "too large for a float. Look at which number is taken."
        ),
        "of_numbers_exponentials": (
            "`math.exp` takes a single number, and the scores are a tensor: it crashes. Look for the `exp` "
            "that takes a whole tensor."
        ),
        "as_an_array_weights": (
            "An array of numpy comes out. A tensor is asked for: no gradient can pass through an array, so "
            "nothing before this step could be trained. Look at where the tensor is left."
        ),
        "all_axes_largest": (
            "One maximum is subtracted from all the rows. Beside a row near 1000, a row near -1000 then "
            "becomes exp(-2000) = 0 everywhere, and 0/0 is nan. Look at whose maximum each row needs."
        ),
    },
    mistakes=MISTAKES,
)
