"""The fields about a training run that every model card shares."""

import platform
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch

STEPS_PER_REPORT = 100


def run_as_told(losses: Sequence[float], seconds: float, n_first: int) -> dict[str, Any]:
    """Return a card's fields about a run on one thread.

    Args:
        losses: The loss of each step.
        seconds: Processor time.
        n_first: Number of steps whose losses are listed individually; a test repeats these steps.
    """
    rows = [*range(0, len(losses), STEPS_PER_REPORT), len(losses)]
    return {
        "steps": len(losses),
        "cpu_minutes": round(seconds / 60, 1),
        "machine": f"one thread, {platform.machine()}, {torch.backends.cpu.get_cpu_capability()}",
        "first_losses": [round(loss, 4) for loss in losses[:n_first]],
        "mean_losses": {str(end): round(sum(losses[start:end]) / (end - start), 3) for start, end in pairwise(rows)},
    }
