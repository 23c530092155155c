"""Train lesson 13's model in three precisions at two learning rates.

``python -m authoring.train_precision_runs`` uses the lesson's own code and stores the losses for the lesson. The
command takes less than a minute on one core.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import torch

from authoring.stored_runs import defined, store_runs
from transformer_course.stored_models.stored_model import FOLDER

COMMAND = "python -m authoring.train_precision_runs"
FILE = FOLDER / "precision-runs" / "losses.json"
LESSON = "13_scale"
NEEDED = {"Model", "loss_of", "train_texts", "index", "PAD", "device", "train_ids", "train_in_16_bits"}
SEEDS = (0, 1, 2)
PRECISIONS = {"float32": (False, False), "mixed precision": (True, False), "all in bfloat16": (False, True)}
PRECISION_RATES = (0.0003, 0.01)


def precision(rate: float, kind: str, seed: int, lesson: dict[str, Any]) -> dict[str, Any]:
    """Return the mean loss of every 10 steps and the fraction of parameters that the last step left unchanged."""
    losses, unchanged = lesson["train_in_16_bits"](seed, *PRECISIONS[kind], rate)
    means = torch.tensor(losses).view(-1, 10).mean(dim=1)
    return {"losses": [round(x, 3) for x in means.tolist()], "unchanged": round(unchanged, 3)}


def precisions(lesson: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the runs of each precision."""
    for rate, kind, seed in product(PRECISION_RATES, PRECISIONS, SEEDS):
        yield {"rate": rate, "kind": kind, "seed": seed, **precision(rate, kind, seed, lesson)}


def runs() -> dict[str, list[dict[str, Any]]]:
    """Train all models and return their losses for the lesson's table."""
    lesson = defined(NEEDED, LESSON)
    return {"precisions": list(precisions(lesson))}


if __name__ == "__main__":
    store_runs(FILE, COMMAND, runs)
