"""Train lesson 03's models that predict both neighbors, with more settings and longer runs than in the lesson.

``python -m authoring.train_neighbor_runs`` uses the lesson's own code and stores the accuracies for the lesson. It
takes about four minutes on one core.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

from authoring.stored_runs import defined, store_runs
from transformer_course.stored_models.stored_model import FOLDER

COMMAND = "python -m authoring.train_neighbor_runs"
FILE = FOLDER / "neighbor-runs" / "accuracy.json"
LESSON, NEEDED = "03_heads", {"Neighbors", "train"}
SEEDS, WIDTH = (0, 1, 2), 64
LONG_RUN_STEPS, SHORT_RUN_STEPS = 3000, 300
INPUTS = tuple(product(("positions", "both"), ("characters", "both")))
"""Inputs of the queries and keys, and inputs of the values."""


def accuracies(
    n_heads: int, compared: str, averaged: str, seed: int, steps: int, lesson: dict[str, Any]
) -> dict[str, float]:
    """Return the mean accuracy over the last 20 steps of a short run and a long run."""
    inputs = {"compared": compared, "averaged": averaged, "width": WIDTH}
    right = lesson["train"](n_heads, seed=seed, steps=steps, **inputs)[1]
    return {str(n): round(right[n - 20 : n].mean().item(), 2) for n in (SHORT_RUN_STEPS, LONG_RUN_STEPS) if n <= steps}


def settings() -> Iterator[dict[str, Any]]:
    """Yield every setting except the seed. Two heads need no long runs."""
    for compared, averaged in INPUTS:
        yield {"n_heads": 1, "compared": compared, "averaged": averaged, "steps": LONG_RUN_STEPS}
        yield {"n_heads": 2, "compared": compared, "averaged": averaged, "steps": SHORT_RUN_STEPS}


def rows() -> Iterator[dict[str, Any]]:
    """Yield the accuracies of each setting and seed."""
    lesson = defined(NEEDED, LESSON)
    for setting in settings():
        for seed in SEEDS:
            found = accuracies(seed=seed, lesson=lesson, **setting)
            yield {key: value for key, value in setting.items() if key != "steps"} | {"seed": seed} | found


if __name__ == "__main__":
    store_runs(FILE, COMMAND, lambda: {"runs": list(rows())})
