"""Processor time of an attempt, compared with that of the reference.

What the clock says would depend on what else the machine has to do.
"""

import math
import os
from collections.abc import Callable
from typing import Any

from transformer_course.running.case import Case
from transformer_course.running.isolation import suppressed_output
from transformer_course.running.observe import observe_all
from transformer_course.running.time_limit import Stopwatch

MAX_SLOWDOWN = 5.0
"""Lessons need not train with a right answer that takes more times as long as the reference."""
SLOWDOWN_MARGIN = 1.5
MAX_TIMINGS = 5
"""Number of times that both are timed at most."""
MAX_TIMING_S = 1.0
"""Processor time after which neither is timed again; each is timed once at least."""
CLOCK_TICK_S = 1 / 64 if os.name == "nt" else 1e-9
"""Seconds in which processor time is counted: what takes less may take none."""


def slowdown(attempt: Any, reference: Callable[..., Any], case: Case, best: float, limit: float) -> float:
    """Return how many times as long as the reference an attempt takes.

    Both are timed a few times, alternately, and the fastest are compared: other programs slow a processor down, too.
    An attempt that is fast enough is timed twice, and so is one that is slow beyond doubt.

    Args:
        attempt: The function to time.
        reference: The function to compare it with.
        case: The arguments of both.
        best: Seconds of processor time that the attempt has taken before.
        limit: Seconds that one call may take.
    """
    best_of_reference = math.inf
    stopwatch = Stopwatch()
    for timing in range(MAX_TIMINGS):
        best_of_reference = min(best_of_reference, max(_time(reference, case, limit), CLOCK_TICK_S))
        best = min(best, _time(attempt, case, limit))
        is_fast = best <= MAX_SLOWDOWN * best_of_reference
        is_slow_beyond_doubt = best > 10 * SLOWDOWN_MARGIN * MAX_SLOWDOWN * best_of_reference
        if (timing > 0 and (is_fast or is_slow_beyond_doubt)) or stopwatch.computing > MAX_TIMING_S:
            break
    return best / best_of_reference


def is_slow(times: float) -> bool:
    """Return whether an attempt that takes this many times as long as the reference is slow for sure."""
    return times > SLOWDOWN_MARGIN * MAX_SLOWDOWN


def _time(function: Any, case: Case, limit: float) -> float:
    with suppressed_output():
        [observed] = observe_all(function, [case], limit)
    return observed.get("remarks", {}).get("seconds", math.inf)
