"""Transfer: look back only so far."""

import torch
from jaxtyping import Bool
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import digits, generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def sliding_window_mask(length: int, window: int) -> Bool[Tensor, "length length"]:
    """Let every position look at the last ``window`` positions up to and with itself."""
    positions = torch.arange(length)
    back = positions[:, None] - positions[None, :]  # how far the query looks back
    return (back >= 0) & (back < window)


def positions(length):
    """number the positions → the positions: 0 to `length` − 1"""
    return torch.arange(length)


def back(positions):
    """subtract key positions from query positions → how far each query looks back: query position − key position"""
    return positions[:, None] - positions[None, :]


def not_ahead(back):
    """allow no key that comes later → the keys that do not come later: those with a distance of at least 0"""
    return back >= 0


def near(back, window):
    """keep the keys fewer than `window` positions back → the keys near enough: distance below `window`"""
    return back < window


def both(not_ahead, near):
    """join the two by *and* → the keys for which both hold: not later *and* near enough"""
    return not_ahead & near


def mask(both):
    """leave the matrix as it is: two axes of True and False → the mask: that matrix, as it is"""
    return both


STEPS = InSteps(positions, back, not_ahead, near, both, mask, reference=sliding_window_mask)


def sliding_window_cases(seed: int) -> list[Case]:
    n = int(torch.randint(12, 31, (), generator=generator(seed)))
    short, long = digits(seed, 7, 29)
    sizes = [(4, 2), (5, 1), (6, 3), (4, 3), (3, 7), (2, 2), (6, 2)]
    sizes += [(n + 1, 5 + short), (n + 10, n // 2), (n + 129, 11 + long)]
    return [Case({"length": n, "window": w}, f"{n} positions, a window of {w}") for n, w in sizes]


def slices_from_below_zero(length, window):
    """Fill each row from a place that may be below 0, and so is counted from the end."""
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        mask[i, i - window + 1 : i + 1] = True
    return mask


MISTAKES = [
    Mistake(
        "never_the_first",
        STEPS.but(mask=lambda mask, positions: mask & (positions > 0)),
        summary="the column of the first position is set to False",
        message=(
            "No position sees the first one, not even itself: the first column is False. Look at the smallest index "
            "that a slice, or a `max`, allows."
        ),
        hints=["What does the first row say?"],
    ),
    Mistake(
        "in_blocks",
        STEPS.but(near=lambda positions, window: positions[:, None] // window == positions // window),
        summary="the sequence is cut into blocks, and only the query's own block is near",
        message=(
            "The sequence is cut into blocks, and each position sees its own block only. The first of each block sees "
            "nothing before it. The window should move along with the query."
        ),
        hints=["With a window of 2, what should position 2 see?"],
    ),
    Mistake(
        "indices_below_zero",
        STEPS.but(mask=slices_from_below_zero),
        summary="the window of the first rows begins below 0, and such an index counts from the end",
        message=(
            "The first rows go wrong: the window begins before the first position there, and an index below 0 counts "
            "from the end. Look at where the window of the first rows begins."
        ),
        hints=["`row[-1:1]` and `row[-1]` of a row of 4: which places are these?"],
    ),
]


EXERCISE = Exercise(
    reference=sliding_window_mask,
    steps=STEPS,
    cases=sliding_window_cases,
    points=2,
    stretch=True,
    verified="Each row allows `window` positions, fewer at the beginning, and none ahead.",
    hints=[
        "Write the mask for 4 positions and a window of 2 by hand. How many True has the last row?",
        "`positions[:, None] - positions[None, :]` says for each pair how far the query looks back. Which distances "
        "are allowed?",
        "At least 0, and less than `window`: two comparisons, joined by `&`. Or cut a matrix of True twice, "
        "with `.tril()` and `.triu(...)`.",
    ],
    messages={
        "comparison_near: (back) <= (window)": (
            "The window is too long by one: with a window of 2, a query sees two keys before itself. It counts, too."
        ),
        "shifted_back: § - 1": Wording(
            summary="the window begins one position before the query",
            hints=[
                "With a window of 2, which positions should position 3 see?",
                "A position sees itself and `window` − 1 positions before it.",
                "How far a query looks back is at least 0, and less than `window`.",
            ],
        ),
        "absolute_back": (
            "The distance loses its sign, so keys ahead of the query count as near. A query may attend to itself and "
            "to what came before."
        ),
    },
    mistakes=MISTAKES,
)
