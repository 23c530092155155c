"""What goes wrong in a softmax at the sum: with its axis, and with the division."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_01_lookup.softmax.answer import STEPS

MISTAKES = [
    Mistake(
        "sums_over_everything",
        [STEPS.but(total=lambda exponentials: exponentials.sum())],
        does="the sum in the division runs over *all* rows",
        says=(
            "Only the whole table adds up to 1: the sum in the division runs over *all* rows. Each row should add up to 1 "
            "by itself. Look at what `.sum()` adds up."
        ),
        hints=[
            "For 2 rows of weights, what should each row add up to? What does it?",
            "`.sum()` without an axis adds up everything there is.",
            "Sum with `dim=-1, keepdim=True`.",
        ],
    ),
    Mistake(
        "first_axis",
        [
            STEPS.but(total=lambda exponentials: exponentials.sum(dim=0)),
            STEPS.but(
                largest=lambda scores: scores.amax(dim=0, keepdim=True),
                total=lambda exponentials: exponentials.sum(dim=0),
            ),
        ],
        does="the rows are added up along the first axis, not along the last",
        says=(
            "The weights add up to 1 down the columns, not along the rows: the axis is counted from the front. Look at "
            "which axis is normalised."
        ),
        hints=[
            "Print `softmax(scores).sum(dim=-1)` for 2 rows of 4 scores.",
            "Negative axes count from the end. Which number names the last axis, however many there are?",
            "Use `dim=-1` everywhere.",
        ],
    ),
    Mistake(
        "second_axis",
        [
            STEPS.but(total=lambda exponentials: exponentials.sum(dim=1, keepdim=True)),
            STEPS.but(
                largest=lambda scores: scores.amax(dim=1, keepdim=True),
                total=lambda exponentials: exponentials.sum(dim=1, keepdim=True),
            ),
        ],
        does="the axis of the sum is counted from the front, as axis 1",
        says=(
            "Right for a table; a single row has no axis 1, which crashes, and with a batch in front axis 1 is not the "
            "last: the axis is counted from the front. Look at how the axis is named."
        ),
        hints=[
            "In a table of shape (2, 4) the last axis is number 1. Which is it in (5, 3, 2), and in (3,)?",
            "Negative numbers count from the end.",
            "Use `dim=-1` everywhere.",
        ],
    ),
    Mistake(
        "forgets_keepdim",
        [
            STEPS.but(total=lambda exponentials: exponentials.sum(dim=-1)),
            STEPS.but(largest=lambda scores: scores.amax(dim=-1)),
        ],
        does="a sum or a maximum loses its axis, because `keepdim=True` is missing",
        says=(
            "One row alone works, but with several each number meets the sum or the maximum of another row: a square table "
            "goes wrong silently, any other crashes. Look at the shape that `sum` and the maximum leave behind."
        ),
        hints=[
            "For scores of shape (2, 4), what shape has `exponentials.sum(dim=-1)`? How is it broadcast?",
            "Broadcasting lines shapes up from the right: (2, 4) and (2,) do not fit, (2, 4) and (2, 1) do.",
            "`keepdim=True` leaves the axis in place with length 1.",
        ],
    ),
    Mistake(
        "no_division",
        [STEPS.but(weights=lambda exponentials: exponentials)],
        does="the division by the sum is missing",
        says="The numbers are positive, but rows do not add up to 1. One step is missing.",
        hints=[
            "Print the row sums of what is returned.",
            "What makes shares of a list of positive numbers?",
            "Divide by the sum of the row: `.sum(dim=-1, keepdim=True)`.",
        ],
    ),
]
