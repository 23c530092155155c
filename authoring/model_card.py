"""Model card fields that describe a training run."""

import platform
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import torch

STEPS_PER_REPORT = 100


def run_fields(losses: Sequence[float], seconds: float, n_first: int) -> dict[str, Any]:
    """Return the model card fields for a single-threaded training run.

    Args:
        losses: The loss of each step.
        seconds: CPU time of the run.
        n_first: Number of initial steps whose losses are listed individually. A test repeats these steps.
    """
    rows = [*range(0, len(losses), STEPS_PER_REPORT), len(losses)]
    return {
        "steps": len(losses),
        "cpu_minutes": round(seconds / 60, 1),
        "machine": f"one thread, {platform.machine()}, {torch.backends.cpu.get_cpu_capability()}",
        "first_losses": [round(loss, 4) for loss in losses[:n_first]],
        "mean_losses": {str(end): round(sum(losses[start:end]) / (end - start), 3) for start, end in pairwise(rows)},
    }
