"""Recognize and locate mistakes for the feedback page by running the answer in the sandbox again.

This affects only the feedback, because the points are already known. The cases come from a different seed than the
graded cases. To replace expressions, the sandbox receives the right values of some steps, but these values reveal
nothing about the graded cases. The cases are the same for the whole class, so the results of each known mistake are
computed only once. The replies are untrusted: an answer that forges them changes only its own feedback.
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

OTHER_CASES_NOTE = "This was found with other cases than the graded case below, so numbers and sizes may differ."
TRACE_TIME_LIMIT_S = 2.0
"""CPU time limit of the answer's second run in seconds; the wall-clock limit is three times as long."""
MAX_TEXT_LENGTH = 10_000
"""Each text from the sandbox is truncated to this number of characters."""
LOCATION_SEED = 0
"""Random seed for the cases that are used to recognize and locate mistakes, unless the graded cases use this seed."""


class SecondRun:
    """A second run of an answer, in a process that starts on first use, with cases that are never graded.

    Args:
        exercise: The exercise.
        job: The job with the graded cases.
        sandbox: The sandbox.
        seed: Random seed for the graded cases.
        seconds: Time limit in seconds. If it is not positive, the answer does not run.
        stack: The exit stack that ends the process.

    Raises:
        SandboxError: On first use, for the same reasons as in ``Sandbox.run``.
    """

    def __init__(
        self, exercise: Exercise, job: Mapping[str, Any], sandbox: Sandbox, seed: int, seconds: float, stack: ExitStack
    ) -> None:
        self.known = behavior(exercise, location_seed(seed))
        self._job, self._sandbox, self._stack = job, sandbox, stack
        self._seconds = min(3 * TRACE_TIME_LIMIT_S, seconds)
        self._conversation: Conversation | None = None

    @property
    def cost(self) -> float:
        """The time in seconds that the answer itself has used so far."""
        return max(self._conversation.seconds - self._conversation.waited, 0.0) if self._conversation else 0.0

    @cached_property
    def traced(self) -> "TracedInSandbox | None":
        """The answer for tracing, or None if it cannot be traced, no time is left, or no case is small enough."""
        if self._seconds <= 0 or not any(is_small(case) for case in self.known.cases):
            return None
        job = {**self._job, "cases": [case.as_dict() for case in self.known.cases]}
        limits = replace(self._sandbox.limits, seconds=self._seconds)
        self._conversation = self._stack.enter_context(self._sandbox.conversation(job, limits, TRACE_TIME_LIMIT_S))
        with suppress(CannotTrace, NotPlainData):
            return TracedInSandbox(self._conversation, self.known.cases)
        return None

    def observed(self) -> list[Observation]:
        """Return the observations of the answer on these cases, or an empty list if it cannot be traced."""
        with suppress(Exception):  # forged replies may cause any error
            if self.traced:
                return self.known.normalized(observations_of(self.traced.records(), self.known.cases))
        return []


def with_location(verdict: Verdict, exercise: Exercise, observed: Any, second_run: SecondRun, seed: int) -> Verdict:
    """Add the location of the mistake to a verdict if the location can be proven. A wrong answer stays wrong.

    Args:
        verdict: The verdict.
        exercise: The exercise.
        observed: The untrusted observations on which the verdict is based.
        second_run: The second run, which traces the answer.
        seed: Random seed for the graded cases.

    Raises:
        SandboxError: For the same reasons as in ``Sandbox.run``.
    """
    if not can_be_located(verdict) or took_too_long(observed) or second_run.traced is None:
        return verdict
    found = verdict
    with suppress(Exception):  # forged replies may cause any error
        changed = changed_arguments(observed, behavior(exercise, seed).expected)
        note = "" if verdict.mistakes else OTHER_CASES_NOTE
        clock = CLOCK_FACTOR * SEARCH_TIME_LIMIT_S  # other processes may be using the CPUs
        found = add_location(verdict, second_run.known, second_run.traced, changed, note, clock)
    return found


def location_seed(seed: int) -> int:
    """Return a seed that differs from the seed of the graded cases.

    >>> location_seed(20170612), location_seed(0)
    (0, 1)
    """
    return LOCATION_SEED if seed != LOCATION_SEED else LOCATION_SEED + 1


class TracedInSandbox:
    """An answer whose expressions are recorded and replaced in the sandbox.

    Args:
        conversation: The conversation with the process that defines the answer.
        cases: The cases of the job.

    Raises:
        CannotTrace: The answer cannot be defined or traced.
        NotPlainData: The reply does not describe the answer's expressions.
    """

    def __init__(self, conversation: Conversation, cases: Sequence[Case]) -> None:
        self._conversation, self._cases = conversation, cases
        reply = conversation.receive()
        if reply is None:
            raise CannotTrace("the answer sent no reply")
        self.expressions: list[Expression] = unpack_expressions(reply)

    def run(self, case: Case, replacements: Mapping[int, Any] | None = None, *, is_recording: bool = True) -> Trace:
        """Call the answer on a case, with the values of some expressions replaced."""
        if not is_small(case):
            return Trace(error=NOT_TRACED)
        [trace] = self._traces(pack_request(self._index(case), replacements or {}, is_recording=is_recording), 1)
        return trace

    @cached_property
    def edits(self) -> list[CodeEdit]:
        """The untrusted list of small edits to the answer's code."""
        return unpack_edits(self._conversation.ask(ALL_EDITS) or b"")

    def run_edited(self, case: Case, edit: int) -> Trace:
        """Call the edited answer on a case."""
        if not is_small(case):
            return Trace(error=NOT_TRACED)
        [trace] = self._traces(pack_request(self._index(case), {}, edit=edit), 1)
        return trace

    def run_twice(self, case: Case) -> tuple[Trace, Trace]:
        """Call the answer twice on the same case."""
        first, second = self._traces(pack_request(self._index(case), {}, times=2), 2)
        return first, second

    def records(self) -> Any:
        """Return the untrusted records of all cases."""
        records = unpack(self._conversation.ask(ALL_RECORDS) or b"")["records"]
        return cut_texts(records[: len(self._cases)], MAX_TEXT_LENGTH)

    def _index(self, case: Case) -> int:
        return next(index for index, candidate in enumerate(self._cases) if candidate is case)

    def _traces(self, request: bytes, n_traces: int) -> list[Trace]:
        reply = self._conversation.ask(request)
        problem = "TookTooLong"
        with suppress(NotPlainData):
            if reply is not None:
                problem = "NotPlainData"
                return unpack_traces(reply, len(self.expressions), n_traces)
        return [Trace(error=(problem, "")) for _ in range(n_traces)]


def took_too_long(observed: Any) -> bool:
    """Return whether an answer was stopped because it exceeded its time limit."""
    last = observed[-1] if isinstance(observed, list | tuple) and observed else None
    error = last.get("error") if isinstance(last, Mapping) else None
    return isinstance(error, Mapping) and error.get("type") == "TookTooLong"
