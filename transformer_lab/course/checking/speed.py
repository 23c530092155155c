"""How much longer an attempt takes than the reference."""

import math
import time
from collections.abc import Callable
from typing import Any

from transformer_lab.course.running.case import Case
from transformer_lab.course.running.isolation import suppressed_output
from transformer_lab.course.running.observe import observe_all

SLOW = 5.0
"""A right answer that takes more times as long as the reference is not what lessons train with."""
LONG_ENOUGH = 1.0
"""A time of so many seconds needs no second measurement."""


def slowdown(attempt: Any, reference: Callable[..., Any], case: Case, best: float, limit: float) -> float:
    """Compare the best times of a few turns taken alternately, which a busy machine disturbs least.

    Args:
        attempt: What is timed.
        reference: What it is compared with.
        case: What both are called with.
        best: How many seconds the attempt has taken before. What has taken long is not run again: noise is not that
            loud.
        limit: How many seconds one call may take.

    Returns:
        How many times as long as the reference it takes.
    """
    best_of_reference = math.inf
    deadline = time.perf_counter() + 0.3
    for turn in range(5):
        best_of_reference = min(best_of_reference, _time(reference, case, limit))
        fast = turn > 0 and best <= SLOW * best_of_reference  # the first time, the reference may have been disturbed
        if fast or best > LONG_ENOUGH or time.perf_counter() > deadline:
            break
        best = min(best, _time(attempt, case, limit))
    return best / best_of_reference


def _time(function: Any, case: Case, limit: float) -> float:
    with suppressed_output():
        [seen] = observe_all(function, [case], limit)
    return seen.get("remarks", {}).get("seconds", math.inf)
