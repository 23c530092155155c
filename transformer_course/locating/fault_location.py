"""Add the line at fault to a verdict, if it can be proven.

If no mistake was recognized, ``FaultSearch`` finds the fault. Otherwise, the search only finds the line of the mistake.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from transformer_course.checking.crash_help import RETURNS_TWO
from transformer_course.checking.expected_behavior import Behavior, in_isolation
from transformer_course.checking.explain import NOT_REPEATABLE, ON_LINE
from transformer_course.checking.general_mistakes import CHANGES_ARGUMENT
from transformer_course.checking.judge import STOPS_AT
from transformer_course.checking.verdict import Verdict
from transformer_course.locating.fault import Fault, joined
from transformer_course.locating.fault_search import FaultSearch
from transformer_course.locating.mistake_location import with_line_of_mistake
from transformer_course.running.isolation import restored_globals
from transformer_course.running.time_limit import MAX_IDLE_S, TookTooLong, time_limit
from transformer_course.running.trace import TracedAttempt

SEARCH_TIME_LIMIT_S = 10.0
"""CPU time limit of the search in seconds. Only very slow attempts reach this limit: usually, ``MAX_RUNS`` ends the
search much earlier, so that the result does not depend on the machine.
"""


def can_be_located(verdict: Verdict) -> bool:
    """Return whether a line can be added to a verdict.

    An attempt that seems half-finished may compute the remaining steps and discard the result.
    """
    return verdict.status in ("wrong", "crashed", "mistake", "half_finished")


def add_location(
    verdict: Verdict,
    known: Behavior,
    traced: TracedAttempt,
    changed: Sequence[str] = (),
    note: str = "",
    clock: float = math.inf,
) -> Verdict:
    """Add the line at fault to the message and hints of a verdict, if it can be proven.

    The status and the mistakes stay the same, unless one edit of the code explains what two mistakes did.

    Args:
        verdict: The verdict.
        known: The expected behavior, possibly on different cases than the verdict.
        traced: The attempt, which is run again.
        changed: Arguments that a call changed.
        note: A sentence to insert between the line and the verdict's message.
        clock: Wall-clock limit of the search in seconds.
    """
    if not can_be_located(verdict):
        return verdict
    is_changed = CHANGES_ARGUMENT in verdict.mistakes
    named = known.named(verdict.mistakes, verdict.message)
    try:
        with restored_globals(), in_isolation(), time_limit(SEARCH_TIME_LIMIT_S, clock, MAX_IDLE_S):
            search = FaultSearch(known, traced, is_random=NOT_REPEATABLE in verdict.message)
            if verdict.status == "half_finished":
                stops_at = verdict.mistakes[0].removeprefix(STOPS_AT)
                unused = search.discarded_result() or search.repair() or search.unused_value(stops_at)
                return replace(verdict, message=unused.message, hints=unused.hints) if unused else verdict
            if verdict.status == "mistake":
                return with_line_of_mistake(verdict, search, named, changed if is_changed else ())
            is_explained = verdict.status == "crashed" and RETURNS_TWO in verdict.message
            fault = None if is_explained else search.fault()
            shapes = search.shapes_in_crash(verdict)
    except TookTooLong:
        return verdict
    message = verdict.message
    if not fault:
        return replace(verdict, message=joined(message, shapes))
    # Remove the source line from the crash message, so that the line is not shown twice.
    message = message.replace(f"{ON_LINE.format(fault.expression.line)}{fault.expression.source_line.strip()}", "")
    return replace(verdict, message=joined(fault.message, note, message, shapes), hints=fault.hints)


def locate(known: Behavior, traced: TracedAttempt) -> Fault | None:
    """Return the fault in a wrong attempt, or None if it cannot be proven."""
    try:
        with restored_globals(), in_isolation(), time_limit(SEARCH_TIME_LIMIT_S, math.inf, MAX_IDLE_S):
            return FaultSearch(known, traced).fault()
    except TookTooLong:
        return None
