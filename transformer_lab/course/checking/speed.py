"""Running time of an attempt, compared with that of the reference."""

import math
import time
from collections.abc import Callable
from typing import Any

from transformer_lab.course.running.case import Case
from transformer_lab.course.running.isolation import suppressed_output
from transformer_lab.course.running.observe import observe_all

MAX_SLOWDOWN = 5.0
"""Lessons do not train with a right answer that takes more times as long as the reference."""
MAX_REPEATED_SECONDS = 1.0
"""Seconds: an attempt that took longer is not measured again."""


def slowdown(attempt: Any, reference: Callable[..., Any], case: Case, best: float, limit: float) -> float:
    """Return how many times as long as the reference an attempt takes.

    The best times of a few turns taken alternately are compared, which a busy machine disturbs least.

    Args:
        attempt: The function to time.
        reference: The function to compare it with.
        case: The arguments of both.
        best: Seconds that the attempt has taken before. What has taken long is not run again: noise is smaller.
        limit: Seconds that one call may take.
    """
    best_of_reference = math.inf
    deadline = time.perf_counter() + 0.3
    for turn in range(5):
        best_of_reference = min(best_of_reference, _time(reference, case, limit))
        fast = (
            turn > 0 and best <= MAX_SLOWDOWN * best_of_reference
        )  # the first time, the reference may have been disturbed
        if fast or best > MAX_REPEATED_SECONDS or time.perf_counter() > deadline:
            break
        best = min(best, _time(attempt, case, limit))
    return best / best_of_reference


def _time(function: Any, case: Case, limit: float) -> float:
    with suppressed_output():
        [seen] = observe_all(function, [case], limit)
    return seen.get("remarks", {}).get("seconds", math.inf)
