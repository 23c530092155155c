"""Softmax: turn scores into weights."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def softmax(scores: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch n"]:
    """Turn scores into weights that are positive and add up to 1 along the last axis."""
    largest = scores.max(dim=-1, keepdim=True).values
    exponentials = torch.exp(scores - largest)  # at most exp(0) = 1, so nothing overflows
    return exponentials / exponentials.sum(dim=-1, keepdim=True)


def axis():
    """choose the dimension of the softmax → the dimension of the softmax: −1, the last"""
    return -1


def largest(scores, axis):
    """find the largest score of each row → the largest score of each row: a column"""
    return scores.amax(dim=axis, keepdim=True)


def shifted(scores, largest):
    """subtract the largest score of each row → the shifted scores: the largest of each row is 0"""
    return scores - largest


def exponentials(shifted):
    """take `exp` of the shifted scores → the exponentials of the shifted scores"""
    return torch.exp(shifted)


def total(exponentials, axis):
    """sum the exponentials of each row → the sum of each row: a column"""
    return exponentials.sum(dim=axis, keepdim=True)


def shares(exponentials, total):
    """divide each exponential by the sum of its row → the quotients: each exponential divided by the sum of its row"""
    return exponentials / total


def weights(shares):
    """return a tensor with the shape of the scores → the weights"""
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
        "adds_the_largest",
        STEPS.but(shifted=lambda scores, largest: scores + largest),
        summary="you add the largest score of each row instead of subtracting it",
        message=(
            "{summary}. For small scores, your weights are still right because the shift cancels, but for scores near "
            "1000, you take `exp` of 2000, which overflows to infinity. What should the largest exponent be?"
        ),
        hints=["For the scores 1000 and 1001, which numbers do you pass to `exp`?"],
    ),
    Mistake(
        "logarithm",
        STEPS.but(shares=lambda shifted, total: shifted - total.log()),
        STEPS.but(weights=lambda weights: weights.log()),
        summary="you return the logarithms of the weights",
        message=(
            "{summary}: two equal scores give −0.69 and −0.69 instead of 0.5 and 0.5. What should the numbers in a row "
            "sum to?"
        ),
        hints=["Can a weight be negative?"],
    ),
    Mistake(
        "sigmoid_of_each",
        STEPS.but(shares=lambda scores: torch.sigmoid(scores)),
        STEPS.but(shares=lambda scores: torch.exp(scores) / (1 + torch.exp(scores))),
        summary="you apply a sigmoid to each score separately",
        message=(
            "{summary}: three scores of 0 get weights of 0.5 each, which sum to 1.5. The weights of a row should sum "
            "to 1. What should you divide by?"
        ),
        hints=["If one score of a row rises, what should happen to the other weights? What happens to yours?"],
    ),
    Mistake(
        "sums_over_everything",
        STEPS.but(total=lambda exponentials: exponentials.sum()),
        STEPS.but(largest=lambda scores: scores.max(), total=lambda exponentials: exponentials.sum()),
        summary="you divide by the sum over *all* rows",
        message=(
            "{summary}, so only the whole tensor sums to 1. Each row should. What does `.sum()` add up without a `dim`?"
        ),
        hints=["For 2 rows of scores, what does each of your rows sum to? What should it sum to?"],
    ),
    Mistake(
        "first_axis",
        STEPS.but(axis=lambda: 0),
        STEPS.but(total=lambda exponentials: exponentials.sum(dim=0)),
        summary="you normalize over the first dimension instead of the last",
        message="{summary}, so each *column* of a matrix sums to 1. Each *row* should. Which `dim` runs along a row?",
        hints=["What is `softmax(scores).sum(dim=-1)` for 2 rows of 4 scores, and what should it be?"],
    ),
    Mistake(
        "no_axis_named",
        STEPS.but(axis=lambda scores: 0 if scores.dim() in (0, 1, 3) else 1),
        summary="your softmax runs over the first or the second dimension, depending on the number of dimensions",
        message=(
            "Your output is right for a vector or a matrix, but you normalize a batch of matrices over its *first* "
            "dimension. Without `dim`, PyTorch chooses 0 or 1 depending on the number of dimensions, and prints a "
            "warning. Which `dim` runs along a row of any tensor?"
        ),
        hints=["For scores of shape (5, 3, 2), what do your rows of 2 weights sum to?"],
    ),
    Mistake(
        "sums_without_their_axis",
        STEPS.but(total=lambda exponentials, axis: exponentials.sum(dim=axis)),
        summary="your sums lose the dimension that you sum over",
        message=(
            "Your code works for a single row but not for a matrix: {summary}, so broadcasting pairs the sums of the "
            "rows with the columns. Which argument keeps that dimension?"
        ),
        hints=[
            "For scores of shape (2, 4), what shape do your sums have? What shape should they have to divide each row "
            "by its own sum?"
        ],
    ),
    Mistake(
        "largest_without_its_axis",
        STEPS.but(largest=lambda scores, axis: scores.amax(dim=axis)),
        summary="your maxima lose the dimension that you reduce",
        message=(
            "Your code works for a single row but not for a matrix: {summary}, so broadcasting pairs the maxima of the "
            "rows with the columns. Which argument keeps that dimension?"
        ),
        hints=[
            "For scores of shape (2, 4), what shape do your maxima have? What shape should they have to subtract each "
            "row's own maximum?"
        ],
    ),
    Mistake(
        "rows_in_a_loop",
        STEPS.but(
            shares=lambda scores: torch.stack(
                [torch.exp(row - row.max()) / torch.exp(row - row.max()).sum() for row in scores]
            )
        ),
        summary="you loop over the *first* dimension, which doesn't always hold the rows",
        message=(
            "Your code is right only for matrices, because {summary}. For shape (3,), each item is a number; for (5, "
            "3, 2), each item is a whole matrix. How can you normalize every row without a loop?"
        ),
        hints=["Which argument makes `sum` and `amax` work on every row at once?"],
    ),
    Mistake(
        "overflows",
        STEPS.but(shifted=lambda scores: scores),
        STEPS.but(shifted=lambda scores: scores, weights=lambda weights: weights.nan_to_num()),
        summary="your exponentials overflow for large scores",
        message=(
            "Your code is right for ordinary scores. At 1000, `exp` overflows to infinity, and at −1000 every `exp` "
            "is 0, so you divide 0 by 0. What could you subtract from all the scores of a row?"
        ),
        hints=["What is `torch.exp(torch.tensor(1000.0))`? And infinity divided by infinity?"],
    ),
    Mistake(
        "shifts_only_the_numerator",
        STEPS.but(total=lambda scores: torch.exp(scores).sum(dim=-1, keepdim=True)),
        summary="you subtract the maximum only in the numerator, not in the sum",
        message=(
            "{summary}, so your rows don't sum to 1. The shift cancels only if you apply it to both. Which scores "
            "should you pass to `exp` in the sum?"
        ),
        hints=["In exp(s − c) / Σ exp(s − c), where is c? Where is it in your code?"],
    ),
    Mistake(
        "shifts_only_the_sum",
        STEPS.but(shares=lambda scores, total: torch.exp(scores) / total),
        summary="you subtract the maximum only in the sum, not in the numerator",
        message=(
            "{summary}, so your rows don't sum to 1. The shift cancels only if you apply it to both. Which scores "
            "should you pass to `exp` in the numerator?"
        ),
        hints=["In exp(s − c) / Σ exp(s − c), where is c? Where is it in your code?"],
    ),
    Mistake(
        "subtracts_after_exp",
        STEPS.but(exponentials=lambda scores: torch.exp(scores) - torch.exp(scores).amax(dim=-1, keepdim=True)),
        STEPS.but(exponentials=lambda scores, largest: torch.exp(scores) - largest),
        summary="you subtract the shift after `exp` instead of before it",
        message=(
            "{summary}, so your weights change, and `exp` still overflows for large scores. The shift cancels only "
            "inside the exponent, where exp(s − c) = exp(s) / exp(c)."
        ),
        hints=[
            "Compare exp(s − c) / Σ exp(s − c) with (exp(s) − c) / Σ (exp(s) − c). In which of the two does c cancel?"
        ],
    ),
]

EXERCISE = Exercise(
    reference=softmax,
    steps=STEPS,
    may_cut_gradients=True,
    cases=softmax_cases,
    points=2,
    verified="Your rows sum to 1 over the last dimension, for any leading dimensions and even for scores of ±1000.",
    hints=[
        "Which function makes any number positive and keeps the order? What do you divide by, so that a row sums to 1?",
        "A softmax takes three steps: exponentials, sums, division. Normalize each row over the last dimension: sum "
        "with `dim=-1, keepdim=True`.",
        "`exp(1000)` is too large for a float. If you subtract the same number from all the scores of a row, the "
        "result stays the same. Which number makes every exponent at most 0?",
        "`scores.amax(dim=-1, keepdim=True)` is the largest score of each row. (`scores.max(dim=-1, keepdim=True)` "
        "returns a pair, the values and their indices.) Subtract it before `exp`.",
    ],
    messages={
        "call_left_out_exponentials": Wording(
            "{summary}, so your weights can be negative, and a row of equal scores becomes 0/0 = nan. Which function "
            "makes every number positive?",
            summary="you never take `exp` of the shifted scores",
            hints=["What is the largest shifted score of a row? Which signs do all the other shifted scores have?"],
        ),
        "order_shifted": Wording(
            "{summary}, so the largest score gets the *smallest* weight. Which one should come first, the scores or "
            "the maximum?",
            summary="you subtract the scores from the maximum instead of the reverse",
            hints=["For the scores 0 and 1, which numbers do you pass to `exp`?"],
        ),
        "operator_shifted: (scores) / (largest)": Wording(
            "{summary}, so the scores [1, 2] and [11, 12] get different weights, and a row of zeros becomes nan. Which "
            "operation shifts all the scores in a row by the same amount?",
            summary="you divide each score by the largest score in its row",
            hints=["In exp(s − c) / Σ exp(s − c), c cancels. Does it in exp(s / c) / Σ exp(s / c)?"],
        ),
        "axis_largest: scores.amax(dim=0, keepdim=True)": Wording(
            "You subtract the largest score of each *column*, so the scores of one row are shifted by different "
            "amounts, and the shift doesn't cancel. Which `dim` runs along a row?",
            summary="you subtract the largest score of each column instead of each row",
            hints=["In exp(s − c) / Σ exp(s − c), is c the same for all the scores of one of your rows?"],
        ),
        "sibling_largest": Wording(
            "You subtract something other than the largest score of each row, so for some rows `exp` overflows, or "
            "every `exp` is 0. Which shift always makes the largest exponent exactly 0?",
            summary="you subtract something other than the largest score of each row",
            hints=["For the row [1000, 0, 0], which number do you subtract? What is the largest exponent then?"],
        ),
        "of_numbers_exponentials": Wording(
            "You call `math.exp`, which takes a single number, so your code crashes on a tensor of scores. Which `exp` "
            "takes a whole tensor?",
            summary="you use `math.exp` on a tensor",
            hints=["What does `math.exp(torch.zeros(2))` do? And `math.exp(0.0)`?"],
        ),
        "as_an_array_weights": Wording(
            "You return a NumPy array instead of a tensor. No gradient can pass through an array, so nothing before "
            "the softmax could be trained. Where do you convert the tensor to an array?",
            summary="you return a NumPy array instead of a tensor",
            hints=["What is the `type` of your result?"],
        ),
        "all_axes_largest": Wording(
            "You subtract one maximum, the largest score of *all* rows. If one row is near 1000, every `exp` in a row "
            "near −1000 is exp(−2000) = 0, and 0/0 is nan. Which maximum should you subtract from each row?",
            summary="you subtract the maximum of all rows from every row",
            hints=["With one row near 1000 and one near −1000, what do you subtract from the second row?"],
        ),
    },
    mistakes=MISTAKES,
)
