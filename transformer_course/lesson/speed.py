"""Compare the processor time of an attempt with that of the reference.

Wall-clock time would depend on what else the machine is doing.
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
"""Lessons do not train with a right answer that is more than this many times slower than the reference."""
SLOWDOWN_MARGIN = 1.5
MAX_TIMINGS = 5
"""Maximum number of times that both are timed."""
MAX_TIMING_S = 1.0
"""Processor time after which neither is timed again; each is timed at least once."""
CLOCK_TICK_S = 1 / 64 if os.name == "nt" else 1e-9
"""Resolution of processor time; shorter runs may measure 0."""


def slowdown(attempt: Any, reference: Callable[..., Any], case: Case, best: float, limit: float) -> float:
    """Return the attempt's time divided by the reference's.

    Both are timed a few times, alternately, and the fastest times are compared, because other programs slow down single
    runs. An attempt that is clearly fast or clearly slow is timed only twice.

    Args:
        attempt: The function to time.
        reference: The function to compare it with.
        case: The arguments of both.
        best: Seconds of processor time that the attempt took in earlier calls.
        limit: Time limit of one call in seconds.
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
    """Return whether an attempt with this slowdown is slow beyond doubt."""
    return times > SLOWDOWN_MARGIN * MAX_SLOWDOWN


def _time(function: Any, case: Case, limit: float) -> float:
    with suppressed_output():
        [observed] = observe_all(function, [case], limit)
    return observed.get("remarks", {}).get("seconds", math.inf)
