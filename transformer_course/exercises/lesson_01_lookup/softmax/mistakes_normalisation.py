"""What goes wrong in a softmax at the sum: with its axis, and with the division."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_01_lookup.softmax.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result, rounded

MISTAKES = [
    Mistake(
        "sums_over_everything",
        STEPS.but(total=lambda exponentials: exponentials.sum()),
        STEPS.but(largest=lambda scores: scores.max(), total=lambda exponentials: exponentials.sum()),
        does="the sum runs over *all* rows",
        says=(
            "Only the whole table adds up to 1: {does}. Each row should add up to 1 by itself. Look at what `.sum()` "
            "adds up."
        ),
        hints=["For 2 rows of weights, what should each row add up to? What does it?"],
    ),
    Mistake(
        "first_axis",
        STEPS.but(axis=lambda: 0),
        STEPS.but(total=lambda exponentials: exponentials.sum(dim=0)),
        does="the sum runs along the first axis, not along the last",
        says=(
            "It is along the first axis that numbers are added up and divided, down the columns of a table and not "
            "along its rows. Look at which axis is normalised."
        ),
        hints=["Print `softmax(scores).sum(dim=-1)` for 2 rows of 4 scores."],
    ),
    Mistake(
        "second_axis",
        STEPS.but(axis=lambda: 1),
        STEPS.but(total=lambda exponentials: exponentials.sum(dim=1, keepdim=True)),
        does="the axis of the sum is counted from the front, as axis 1",
    ),
    Mistake(
        "forgets_keepdim",
        STEPS.but(total=lambda exponentials: exponentials.sum(dim=-1)),
        STEPS.but(largest=lambda scores: scores.amax(dim=-1)),
        does="a sum or a maximum loses the axis along which it was taken",
        says=(
            "One row alone works. With several, the column of sums or maxima is broadcast as a row, so that numbers "
            "meet the sum or the maximum of another row: a square table goes wrong silently, most others crash. Look "
            "at the shapes."
        ),
        hints=["For scores of shape (2, 4), what shape has `exponentials.sum(dim=-1)`? How is it broadcast?"],
    ),
    Mistake(
        "no_division",
        STEPS.but(shares=lambda exponentials: exponentials),
        does="the exponentials are not divided by the sum of their row",
        says="The numbers are positive, and rows do not add up to 1: the exponentials are not divided by their sum.",
        hints=["Print the row sums of what is returned."],
    ),
    Mistake(
        "second_to_last_axis",
        STEPS.but(axis=lambda: -2),
        STEPS.but(axis=lambda scores: -2 if scores.dim() > 1 else -1),
        STEPS.but(total=lambda exponentials: exponentials.sum(dim=-2, keepdim=True)),
        does="the weights add up to 1 along the second-to-last axis, not along the last",
        says=(
            "It is along the second-to-last axis that numbers are added up and divided: down the columns, not along "
            "the rows. Look at which axis is normalised."
        ),
        hints=["Print `softmax(scores).sum(dim=-1)` for 2 rows of 4 scores."],
    ),
    Mistake(
        "no_axis_named",
        STEPS.but(axis=lambda scores: 0 if scores.dim() in (0, 1, 3) else 1),
        does="the axis of the softmax is the first or the second, by the number of axes",
        says=(
            "Right for one row and for one table; with a batch in front, it is the first axis that adds up to 1. That "
            "is the axis torch chooses when none is named (and it warns of it)."
        ),
        hints=["What do the rows add up to, for scores of shape (5, 3, 2)?"],
    ),
    Mistake(
        "another_total",
        STEPS.but(total=lambda exponentials: exponentials.norm(dim=-1, keepdim=True)),
        STEPS.but(total=lambda exponentials: exponentials.mean(dim=-1, keepdim=True)),
        STEPS.but(total=lambda exponentials: exponentials.shape[-1]),
        STEPS.but(total=lambda scores: scores.sum(dim=-1, keepdim=True)),
        STEPS.but(total=lambda shifted: shifted.sum(dim=-1, keepdim=True)),
        STEPS.but(total=lambda exponentials: exponentials.cumsum(dim=-1)),
        STEPS.but(total=lambda total: total + 1),
        STEPS.but(total=lambda total: total + 0.1).attempt,
        STEPS.but(shares=lambda exponentials, total: exponentials / (total - exponentials)),
        does="another number is taken for the sum of the row",
        says=(
            "What the exponentials are divided by is not their sum: it is a mean, a norm, a count, the sum of the "
            "*scores*, or a sum that leaves some out or adds something. So no row adds up to 1. Look at the "
            "denominator."
        ),
        hints=["Print the row sums of what is returned."],
    ),
    Mistake(
        "multiplies_by_the_sum",
        STEPS.but(shares=lambda exponentials, total: exponentials * total),
        does="the last operation is a product, not a division",
    ),
    Mistake(
        "divides_by_the_largest",
        STEPS.but(shifted=lambda scores: scores, total=lambda exponentials: exponentials.amax(dim=-1, keepdim=True)),
        does="the largest of each row is taken for its sum",
        says=(
            "The largest number of each row is 1, and rows add up to more: the exponentials are divided by their "
            "largest, not by their sum. Look at the denominator."
        ),
        hints=["Print the row sums of what is returned."],
    ),
    Mistake(
        "rows_in_a_loop",
        STEPS.but(
            shares=lambda scores: torch.stack(
                [torch.exp(row - row.max()) / torch.exp(row - row.max()).sum() for row in scores]
            )
        ),
        STEPS.but(shares=lambda scores: torch.stack([torch.exp(row) / torch.exp(row).sum() for row in scores])),
        does="what is taken for one row is each entry along the *first* axis",
        says=(
            "Right for one table only: what is taken for a row is each entry along the *first* axis. Of a single row "
            "that is one number, and of a batch a whole table. Look for a way that needs no loop over the rows."
        ),
        hints=["What is one `row` of `for row in scores` when scores have the shape (3,)? And (5, 3, 2)?"],
    ),
    rounded(
        STEPS,
        "weights",
        does="the weights are rounded",
        says="{does}, so that rows need not add up to 1 any more, and no gradient passes.",
    ),
    *of_the_result(STEPS, "function_of_the_result", "axes_of_length_1_removed"),
]
