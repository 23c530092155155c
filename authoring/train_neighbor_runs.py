"""Train lesson 03's models that predict both neighbors, with more settings and longer runs than in the lesson.

``python -m authoring.train_neighbor_runs`` uses the lesson's own code and stores the accuracies for the lesson. The
command takes about six minutes on one core.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

from authoring.stored_runs import defined, store_runs
from transformer_course.stored_models.stored_model import FOLDER

COMMAND = "python -m authoring.train_neighbor_runs"
FILE = FOLDER / "neighbor-runs" / "accuracy.json"
LESSON, NEEDED = "03_heads", {"Neighbors", "train"}
WIDTH, RATES = 64, (0.001, 0.003, 0.01)
LESSON_RATE = RATES[1]
SEEDS, MORE_SEEDS = range(3), range(8)
SHORT_RUN_STEPS, LONGER_RUN_STEPS, LONG_RUN_STEPS = 300, 1000, 3000
INPUTS = tuple(product(("positions", "both"), ("characters", "both")))
"""Inputs of the queries and keys, and inputs of the values."""
TRANSFORMER_INPUTS = INPUTS[-1]


def accuracies(
    n_heads: int, compared: str, averaged: str, rate: float, seed: int, steps: int, lesson: dict[str, Any]
) -> dict[str, float]:
    """Return the mean accuracy over 20 steps after 300, 1,000 and 3,000 steps, up to the length of the run."""
    inputs = {"compared": compared, "averaged": averaged, "width": WIDTH}
    right = lesson["train"](n_heads, seed=seed, steps=steps, rate=rate, **inputs)[1]
    ends = {SHORT_RUN_STEPS, LONGER_RUN_STEPS if n_heads > 1 else LONG_RUN_STEPS}
    return {str(n): round(right[n - 20 : n].mean().item(), 2) for n in sorted(ends) if n <= steps}


def settings() -> Iterator[tuple[dict[str, Any], range]]:
    """Yield every setting without a seed, together with its seeds.

    Every model with one head is trained for a long run. With the inputs of a Transformer, models with one and with two
    heads are trained at three learning rates. The models with two heads are trained with more seeds, because some of
    their runs fail.
    """
    for compared, averaged in INPUTS:
        inputs = {"compared": compared, "averaged": averaged}
        yield {"n_heads": 1, **inputs, "rate": LESSON_RATE, "steps": LONG_RUN_STEPS}, SEEDS
        if (compared, averaged) != TRANSFORMER_INPUTS:
            yield {"n_heads": 2, **inputs, "rate": LESSON_RATE, "steps": SHORT_RUN_STEPS}, SEEDS
    inputs = dict(zip(("compared", "averaged"), TRANSFORMER_INPUTS, strict=True))
    for rate in RATES:
        if rate != LESSON_RATE:
            yield {"n_heads": 1, **inputs, "rate": rate, "steps": LONG_RUN_STEPS}, SEEDS
        yield {"n_heads": 2, **inputs, "rate": rate, "steps": LONGER_RUN_STEPS}, MORE_SEEDS


def rows() -> Iterator[dict[str, Any]]:
    """Yield the accuracies of each setting and seed."""
    lesson = defined(NEEDED, LESSON)
    for setting, seeds in settings():
        for seed in seeds:
            found = accuracies(seed=seed, lesson=lesson, **setting)
            yield {key: value for key, value in setting.items() if key != "steps"} | {"seed": seed} | found


if __name__ == "__main__":
    store_runs(FILE, COMMAND, lambda: {"runs": list(rows())})
