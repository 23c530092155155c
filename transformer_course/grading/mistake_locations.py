"""The place of a mistake, for the feedback page: the answer is traced in the jail, and the search is here.

It is feedback, and never points: the verdict is there before. The cases are those of a seed that never counts, so that
the right values of steps, which the jail gets to put in place of expressions, say nothing about the cases that count.
What comes back is untrusted: an answer that forges its trace changes what is said about itself, and nothing else.
"""

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from transformer_course.checking.expected_behaviour import behaviour
from transformer_course.checking.side_effects import changed_arguments
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Exercise
from transformer_course.jail.jail import Jail
from transformer_course.jail.trace_conversation import Conversation
from transformer_course.locating.fault_location import is_small, may_have_place, with_place
from transformer_course.running.case import Case
from transformer_course.running.plain_data import NotPlainData
from transformer_course.running.trace import CannotTrace, Expression, Trace
from transformer_course.running.trace_data import MAX_BYTES, pack_request, unpack_expressions, unpack_traces

NOTE = "This was found in different cases from the graded one below, so its numbers and sizes may differ."
"""Said after a place, where a case follows."""
MAX_SECONDS = 2.0
"""Seconds that the answer may compute while a place is searched, and a third of those that the clock may run."""
PLACE_SEED = 0
"""Seed of the cases on which places are searched, unless it is the one that counts."""


def with_place_in_jail(
    verdict: Verdict, exercise: Exercise, observed: Any, job: Mapping[str, Any], jail: Jail, seed: int
) -> tuple[Verdict, float]:
    """Find the place of what a verdict is about, where that can be proven; it stays the same verdict.

    Args:
        verdict: The verdict.
        exercise: What was to be answered.
        observed: The observations that the verdict is about, which are untrusted.
        job: The job that they came of.
        jail: Where the answer is traced.
        seed: The seed that counts.

    Returns:
        The verdict, with the place; and the seconds for which the answer's process waited for other programs.

    Raises:
        JailError: As for ``Jail.run``.
    """
    if not may_have_place(verdict) or _took_too_long(observed):
        return verdict, 0.0
    known = behaviour(exercise, seed_of_places(seed))
    cases = [case for case in known.cases if is_small(case)]
    if not cases:
        return verdict, 0.0
    limits = replace(jail.limits, seconds=min(3 * MAX_SECONDS, jail.limits.seconds), answer_mb=MAX_BYTES >> 20)
    traced_job = {**job, "cases": [case.as_dict() for case in cases]}
    found = verdict
    # There may be no source, and what came back can make the code that reads it raise anything.
    with jail.conversation(traced_job, limits, cpu_seconds=MAX_SECONDS) as talk, contextlib.suppress(Exception):
        changed = changed_arguments(observed, behaviour(exercise, seed).expected)
        found = with_place(verdict, known, TracedInJail(talk, cases), changed, "" if verdict.mistakes else NOTE)
    return replace(verdict, message=found.message, hints=found.hints), talk.waited


def seed_of_places(seed: int) -> int:
    """Return a seed that does not count.

    >>> seed_of_places(20170612), seed_of_places(0)
    (0, 1)
    """
    return PLACE_SEED if seed != PLACE_SEED else PLACE_SEED + 1


class TracedInJail:
    """An answer of which the expressions are watched and replaced in the jail.

    Args:
        talk: The conversation with the job; the answer is defined there.
        cases: The cases of the job.

    Raises:
        CannotTrace: The answer cannot be defined or traced.
        NotPlainData: What came back is none of its expressions.
    """

    def __init__(self, talk: Conversation, cases: Sequence[Case]) -> None:
        self._talk, self._cases = talk, cases
        answer = talk.receive()
        if answer is None:
            raise CannotTrace("nothing came back")
        self.expressions: list[Expression] = unpack_expressions(answer)

    def run(self, case: Case, put: Mapping[int, Any] | None = None, *, is_watched: bool = True) -> Trace:
        """Call the answer on a case, with some expressions replaced."""
        if not any(one is case for one in self._cases):
            return Trace(error=("NotTraced", ""))  # it is too large to be sent
        [trace] = self._traces(pack_request(self._index(case), put or {}, is_watched=is_watched), 1)
        return trace

    def run_twice(self, case: Case) -> tuple[Trace, Trace]:
        """Call the answer on a case, and again."""
        first, second = self._traces(pack_request(self._index(case), {}, times=2), 2)
        return first, second

    def _index(self, case: Case) -> int:
        return next(index for index, one in enumerate(self._cases) if one is case)

    def _traces(self, request: bytes, n_traces: int) -> list[Trace]:
        answer = self._talk.ask(request)
        problem = "TookTooLong"
        with contextlib.suppress(NotPlainData):
            if answer is not None:
                problem = "NotPlainData"
                return unpack_traces(answer, len(self.expressions), n_traces)
        return [Trace(error=(problem, "")) for _ in range(n_traces)]


def _took_too_long(observed: Any) -> bool:
    last = observed[-1] if isinstance(observed, list | tuple) and observed else None
    error = last.get("error") if isinstance(last, Mapping) else None
    return isinstance(error, Mapping) and error.get("type") == "TookTooLong"
