"""Compare the CPU time of an attempt with the CPU time of the reference.

Wall-clock time would depend on other processes.
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
"""Maximum slowdown of a right answer that lessons still use for training."""
SLOWDOWN_MARGIN = 1.5
"""An attempt counts as slow only if it exceeds ``MAX_SLOWDOWN`` by this factor, because times vary."""
MAX_TIMINGS = 5
"""Maximum number of times that the attempt and the reference are timed."""
MAX_TIMING_S = 1.0
"""CPU time after which timing stops. The attempt and the reference are timed at least once."""
CLOCK_TICK_S = 1 / 64 if os.name == "nt" else 1e-9
"""Resolution of the CPU time. Shorter runs may measure 0."""


def slowdown(attempt: Any, reference: Callable[..., Any], case: Case, best: float, limit: float) -> float:
    """Return the time for an attempt divided by the time for the reference.

    The attempt and the reference are timed alternately a few times. Their fastest times are compared, because other
    programs slow down single runs. An attempt that is clearly fast or clearly slow is timed only twice.

    Args:
        attempt: The function to time.
        reference: The function with which to compare the attempt.
        case: The arguments for both functions.
        best: The shortest CPU time of the attempt in earlier calls, in seconds.
        limit: Time limit for one call, in seconds.
    """
    best_reference = math.inf
    stopwatch = Stopwatch()
    for timing in range(MAX_TIMINGS):
        best_reference = min(best_reference, max(_time(reference, case, limit), CLOCK_TICK_S))
        best = min(best, _time(attempt, case, limit))
        is_fast = best <= MAX_SLOWDOWN * best_reference
        is_clearly_slow = best > 10 * SLOWDOWN_MARGIN * MAX_SLOWDOWN * best_reference
        if (timing > 0 and (is_fast or is_clearly_slow)) or stopwatch.computing > MAX_TIMING_S:
            break
    return best / best_reference


def is_slow(factor: float) -> bool:
    """Return whether an attempt with this slowdown is certainly slow."""
    return factor > SLOWDOWN_MARGIN * MAX_SLOWDOWN


def _time(function: Any, case: Case, limit: float) -> float:
    with suppressed_output():
        [observed] = observe_all(function, [case], limit)
    return observed.get("remarks", {}).get("seconds", math.inf)
