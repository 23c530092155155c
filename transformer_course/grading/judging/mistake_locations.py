"""Recognize and locate mistakes for the feedback page, running the answer in the sandbox again.

This affects only feedback; the points are already known. The cases have a seed that never counts, so the right values
of steps, which the sandbox gets to replace expressions, reveal nothing about the cases that count. The cases are the
same for the whole class, so the results of each mistake are computed only once. The replies are untrusted: an answer
that forges them changes only its own feedback.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

from transformer_course.checking.expected_behavior import behavior
from transformer_course.checking.side_effects import changed_arguments
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Exercise
from transformer_course.locating.fault_location import SEARCH_TIME_LIMIT_S, add_location, can_be_located
from transformer_course.locating.substituted_runs import NOT_TRACED, is_small
from transformer_course.running.case import Case
from transformer_course.running.code_edits import CodeEdit
from transformer_course.running.instrumentation import CannotTrace, Expression
from transformer_course.running.observation import Observation
from transformer_course.running.observe import observations_of
from transformer_course.running.plain_data import NotPlainData, cut_texts, unpack
from transformer_course.running.trace_data import (
    ALL_EDITS,
    ALL_RECORDS,
    pack_request,
    unpack_edits,
    unpack_expressions,
    unpack_traces,
)
from transformer_course.running.trace_recorder import Trace
from transformer_course.sandbox.resource_limits import CLOCK_FACTOR
from transformer_course.sandbox.sandbox import Sandbox
from transformer_course.sandbox.trace_conversation import Conversation

OTHER_CASES_NOTE = "This was found in different cases from the graded one below, so its numbers and sizes may differ."
TRACE_TIME_LIMIT_S = 2.0
"""CPU time limit in seconds of the answer's second run; the wall-clock limit is three times as long."""
MAX_TEXT_LENGTH = 10_000
"""Maximum number of characters of each text from the sandbox; longer texts are truncated before they are processed.
"""
PLACE_SEED = 0
"""Seed of the cases for recognizing and locating mistakes, unless it is the seed that counts."""


class SecondRun:
    """An answer in a second process, with cases that never count; the process starts on first use.

    Args:
        exercise: The exercise.
        job: The job of the cases that count.
        sandbox: The sandbox.
        seed: The seed that counts.
        seconds: Time limit in seconds; if it is not above 0, the answer does not run.
        stack: The exit stack that ends the process.

    Raises:
        SandboxError: As for ``Sandbox.run``, on first use.
    """

    def __init__(
        self, exercise: Exercise, job: Mapping[str, Any], sandbox: Sandbox, seed: int, seconds: float, stack: ExitStack
    ) -> None:
        self.known = behavior(exercise, seed_of_places(seed))
        self._job, self._sandbox, self._stack = job, sandbox, stack
        self._seconds = min(3 * TRACE_TIME_LIMIT_S, seconds)
        self._talk: Conversation | None = None

    @property
    def cost(self) -> float:
        """Time in seconds that the answer itself has used; final when it has ended."""
        return max(self._talk.seconds - self._talk.waited, 0.0) if self._talk else 0.0

    @cached_property
    def traced(self) -> "TracedInSandbox | None":
        """The answer for tracing, or None if it cannot be traced, has no time left, or has no small case."""
        if self._seconds <= 0 or not any(is_small(case) for case in self.known.cases):
            return None
        job = {**self._job, "cases": [case.as_dict() for case in self.known.cases]}
        limits = replace(self._sandbox.limits, seconds=self._seconds)
        self._talk = self._stack.enter_context(self._sandbox.conversation(job, limits, TRACE_TIME_LIMIT_S))
        with suppress(CannotTrace, NotPlainData):
            return TracedInSandbox(self._talk, self.known.cases)
        return None

    def observed(self) -> list[Observation]:
        """Return the observations of the answer on these cases, or nothing if they are not available."""
        with suppress(Exception):  # forged replies may cause any error
            if self.traced:
                return self.known.normalized(observations_of(self.traced.records(), self.known.cases))
        return []


def with_place_in_sandbox(
    verdict: Verdict, exercise: Exercise, observed: Any, second_run: SecondRun, seed: int
) -> Verdict:
    """Add the location of the mistake to a verdict if it can be proven; the verdict itself does not change.

    Args:
        verdict: The verdict.
        exercise: The exercise.
        observed: The observations that the verdict is about, which are untrusted.
        second_run: The second run, which traces the answer.
        seed: The seed that counts.

    Raises:
        SandboxError: As for ``Sandbox.run``.
    """
    if not can_be_located(verdict) or took_too_long(observed) or second_run.traced is None:
        return verdict
    found = verdict
    with suppress(Exception):  # forged replies may cause any error
        changed = changed_arguments(observed, behavior(exercise, seed).expected)
        note = "" if verdict.mistakes else OTHER_CASES_NOTE
        clock = CLOCK_FACTOR * SEARCH_TIME_LIMIT_S  # other programs may be using the CPUs
        found = add_location(verdict, second_run.known, second_run.traced, changed, note, clock)
    return replace(verdict, message=found.message, hints=found.hints)


def seed_of_places(seed: int) -> int:
    """Return a seed that does not count for points.

    >>> seed_of_places(20170612), seed_of_places(0)
    (0, 1)
    """
    return PLACE_SEED if seed != PLACE_SEED else PLACE_SEED + 1


class TracedInSandbox:
    """An answer whose expressions are recorded and replaced in the sandbox.

    Args:
        talk: The conversation with the job that defines the answer.
        cases: The cases of the job.

    Raises:
        CannotTrace: The answer cannot be defined or traced.
        NotPlainData: The reply does not describe the answer's expressions.
    """

    def __init__(self, talk: Conversation, cases: Sequence[Case]) -> None:
        self._talk, self._cases = talk, cases
        answer = talk.receive()
        if answer is None:
            raise CannotTrace("there was no reply")
        self.expressions: list[Expression] = unpack_expressions(answer)

    def run(self, case: Case, replacements: Mapping[int, Any] | None = None, *, is_recording: bool = True) -> Trace:
        """Call the answer on a case, with some expressions replaced."""
        if not is_small(case):
            return Trace(error=NOT_TRACED)
        [trace] = self._traces(pack_request(self._index(case), replacements or {}, is_recording=is_recording), 1)
        return trace

    @cached_property
    def edits(self) -> list[CodeEdit]:
        """Small edits of the answer's code, which are untrusted."""
        return unpack_edits(self._talk.ask(ALL_EDITS) or b"")

    def run_edited(self, case: Case, edit: int) -> Trace:
        """Call the answer on a case with one edit."""
        if not is_small(case):
            return Trace(error=NOT_TRACED)
        [trace] = self._traces(pack_request(self._index(case), {}, edit=edit), 1)
        return trace

    def run_twice(self, case: Case) -> tuple[Trace, Trace]:
        """Call the answer twice on a case."""
        first, second = self._traces(pack_request(self._index(case), {}, times=2), 2)
        return first, second

    def records(self) -> Any:
        """Return the records of all cases, which are untrusted."""
        return cut_texts(unpack(self._talk.ask(ALL_RECORDS) or b"")["records"][: len(self._cases)], MAX_TEXT_LENGTH)

    def _index(self, case: Case) -> int:
        return next(index for index, one in enumerate(self._cases) if one is case)

    def _traces(self, request: bytes, n_traces: int) -> list[Trace]:
        answer = self._talk.ask(request)
        problem = "TookTooLong"
        with suppress(NotPlainData):
            if answer is not None:
                problem = "NotPlainData"
                return unpack_traces(answer, len(self.expressions), n_traces)
        return [Trace(error=(problem, "")) for _ in range(n_traces)]


def took_too_long(observed: Any) -> bool:
    """Return whether an answer was stopped because it exceeded its time limit."""
    last = observed[-1] if isinstance(observed, list | tuple) and observed else None
    error = last.get("error") if isinstance(last, Mapping) else None
    return isinstance(error, Mapping) and error.get("type") == "TookTooLong"
