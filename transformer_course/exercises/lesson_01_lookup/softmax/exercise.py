"""Turn scores into weights."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_01_lookup.softmax.answer import STEPS, softmax
from transformer_course.exercises.lesson_01_lookup.softmax.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


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


SOFTMAX = Exercise(
    reference=softmax,
    steps=STEPS,
    may_cut_gradients=True,
    cases=softmax_cases,
    points=2,
    verified="Rows add up to 1 along the last axis for any leading dimensions, and scores of ±1000 survive.",
    hints=[
        "Three steps: make everything positive, add up, divide. Which function makes any number positive and keeps "
        "the order?",
        "Each row along the last axis is normalised on its own: sum with `dim=-1, keepdim=True`.",
        "`exp(1000)` is too large for a float. Subtracting the same number from all the scores of a row changes "
        "nothing in the result; which number makes every exponent at most 0?",
        "`scores.amax(dim=-1, keepdim=True)` is the largest score of each row; `scores.max(dim=-1, keepdim=True)` "
        "would give a pair, the scores and where they are.",
    ],
    told={
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
