"""Transfer: look back only so far."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_04_masks.sliding_window_mask.answer import STEPS, sliding_window_mask
from transformer_course.exercises.lesson_04_masks.sliding_window_mask.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


def sliding_window_cases(seed: int) -> list[Case]:
    n = int(torch.randint(12, 31, (), generator=generator(seed)))
    sizes = [(4, 2), (5, 1), (6, 3), (4, 3), (3, 7), (2, 2), (6, 2), (n + 1, 5), (n + 10, n // 2), (n + 129, 11)]
    return [Case({"length": n, "window": w}, f"{n} positions, a window of {w}") for n, w in sizes]


SLIDING_WINDOW_MASK = Exercise(
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
    told={
        "comparison_near: (back) <= (window)": (
            "The window is too long by one: with a window of 2, a query sees two keys before itself. It counts, too."
        ),
        "absolute_back": (
            "The distance loses its sign, so keys ahead of the query count as near. A query may attend to itself and "
            "to what came before."
        ),
    },
    mistakes=MISTAKES,
)
