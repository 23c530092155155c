"""Transfer task: the mask of sliding-window attention."""

import torch
from jaxtyping import Bool
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import mask_mistakes
from transformer_course.exercises.shared.draw_cases import digits, generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def sliding_window_mask(length: int, window: int) -> Bool[Tensor, "length length"]:
    """Let every position attend to the last ``window`` positions, including itself."""
    positions = torch.arange(length)
    back = positions[:, None] - positions[None, :]  # how far the query looks back
    return (back >= 0) & (back < window)


def positions(length):
    """number the positions → the positions: 0 to `length` − 1"""
    return torch.arange(length)


def back(positions):
    """subtract key positions from query positions → the distances: query position − key position"""
    return positions[:, None] - positions[None, :]


def not_ahead(back):
    """hide the later keys → the keys that don't come later: at a distance of at least 0"""
    return back >= 0


def near(back, window):
    """keep the keys fewer than `window` positions back → the near keys: at a distance below `window`"""
    return back < window


def both(not_ahead, near):
    """combine the two conditions with *and* → the combined conditions: not later *and* near"""
    return not_ahead & near


def mask(both):
    """return a boolean matrix → the mask: a boolean matrix, (length, length)"""
    return both


STEPS = InSteps(positions, back, not_ahead, near, both, mask, reference=sliding_window_mask)


def sliding_window_cases(seed: int) -> list[Case]:
    n = int(torch.randint(12, 31, (), generator=generator(seed)))
    short, long = digits(seed, 7, 29)
    sizes = [(4, 2), (5, 1), (6, 3), (4, 3), (3, 7), (2, 2), (6, 2)]
    sizes += [(n + 1, 5 + short), (n + 10, n // 2), (n + 129, 11 + long)]
    return [Case({"length": n, "window": w}, f"{n} positions, a window of {w}") for n, w in sizes]


def slices_from_below_zero(length, window):
    """Fill each row from a start index that may be negative, in which case Python counts it from the end."""
    mask = torch.zeros(length, length, dtype=torch.bool)
    for i in range(length):
        mask[i, i - window + 1 : i + 1] = True
    return mask


MISTAKES = [
    Mistake(
        "never_the_first",
        STEPS.but(mask=lambda mask, positions: mask & (positions > 0)),
        summary="your mask hides position 0 from every position",
        message=(
            "{summary}, even from itself: its first column is all False. What is the smallest key index that your code "
            "allows?"
        ),
        hints=["What should the first row of the mask be? What is yours?"],
    ),
    Mistake(
        "in_blocks",
        STEPS.but(near=lambda positions, window: positions[:, None] // window == positions // window),
        summary="you cut the sequence into blocks, and each position can attend only to its own block",
        message=(
            "{summary}: with a window of 2, position 2 can't attend to position 1. The window should move with the "
            "query. Which distances should it allow?"
        ),
        hints=["With a window of 2, which positions should position 2 attend to?"],
    ),
    Mistake(
        "indices_below_zero",
        STEPS.but(mask=slices_from_below_zero),
        summary="your window starts at a negative index in the first rows",
        message=(
            "{summary}, and Python counts a negative index from the end. With a window of 2, the slice for position 0 "
            "is [-1:1], which is empty. Where should that slice start?"
        ),
        hints=["For a row of 4 entries, what are `row[-1:1]` and `row[-1]`?"],
    ),
]


EXERCISE = Exercise(
    reference=sliding_window_mask,
    steps=STEPS,
    cases=sliding_window_cases,
    points=2,
    stretch=True,
    verified="Each row allows up to `window` positions and none after the query.",
    hints=[
        "Write the mask for 4 positions and a window of 2 by hand. How many entries of the last row are True?",
        "`positions[:, None] - positions[None, :]` is the distance from each key to each query. Which distances are "
        "allowed?",
        "At least 0, and less than `window`: two comparisons, combined with `&`. Or cut a matrix of True twice, with "
        "`.tril()` and `.triu(...)`.",
    ],
    messages={
        "inverted_mask": mask_mistakes.INVERTED,
        "additive_mask": mask_mistakes.ADDED_TO_THE_SCORES,
        "comparison_not_ahead: (back) > (0)": mask_mistakes.NOT_ITSELF,
        "order_back": Wording(
            "{summary}, so each position attends to itself and to *later* positions. Are the queries the rows or the "
            "columns of the mask?",
            summary="you swap queries and keys",
            hints=["With a window of 2, what should the first row of the mask be? What is yours?"],
        ),
        "shifted_window: window - 1": Wording(
            "{summary}: with a window of 2, each position attends only to itself. The position itself is part of the "
            "window. How many earlier positions should be in the window?",
            summary="your window is one position too short",
            hints=["With a window of 2, which positions should position 3 attend to?"],
        ),
        "left_out_both: near": Wording(
            "{summary}, so every position can attend to all later positions. Which second condition should a key meet?",
            summary="you don't hide later keys",
            hints=["For 4 positions, what should the first row of the mask be? What is yours?"],
        ),
        "part_left_out_both: not_ahead": Wording(
            "{summary}, so each position can attend to *all* earlier positions. Which second condition should a key "
            "meet?",
            summary="you don't limit how far back a position can attend",
            hints=["For 4 positions and a window of 2, what should the last row of the mask be? What is yours?"],
        ),
        "comparison_near: (back) <= (window)": Wording(
            "Your window is one position too long: with a window of 2, each position attends to itself and to two "
            "positions before it. The position itself is part of the window. How many earlier positions does that "
            "leave?",
            summary="your window is one position too long",
            hints=["With a window of 2, which positions should position 3 attend to?"],
        ),
        "shifted_back: § - 1": Wording(
            "{summary}: with a window of 2, position 3 attends to positions 1 and 2, but not to itself. What is the "
            "distance between a query and the key at the same position?",
            summary="your window ends one position before the query",
            hints=[
                "With a window of 2, which positions should position 3 attend to?",
                "A position attends to itself and to `window` − 1 positions before it.",
                "The distance of query and key is at least 0, and less than `window`.",
            ],
        ),
        "absolute_back": Wording(
            "You drop the sign of the distance, so you also allow keys *after* the query. A query may attend only to "
            "itself and to earlier positions. What sign does the distance to a later key have?",
            summary="you drop the sign of the distance",
            hints=["With a window of 2, may position 2 attend to position 3? Does your mask allow it?"],
        ),
    },
    mistakes=MISTAKES,
)
