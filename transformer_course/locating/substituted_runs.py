"""Run an attempt again with some of its expressions replaced by correct values.

A substitution maps the number of an expression to a step or an argument of the answer. While the attempt runs, the
expression has the correct value of the step instead of its own value.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from torch import Tensor

from transformer_course.checking.expected_behavior import Behavior
from transformer_course.checking.tolerance import distance
from transformer_course.locating.value_layouts import in_layout, matches
from transformer_course.running.case import Case
from transformer_course.running.record import copy_inputs, load_module
from transformer_course.running.trace import MAX_RUNS, TracedAttempt
from transformer_course.running.trace_recorder import Trace
from transformer_course.steps import InSteps, Variant

NOT_TRACED = ("NotTraced", "")
"""The error of a case that is too large to run again in the sandbox."""
MAX_INPUT_NUMBERS = 300
"""Cases with more numbers in their inputs are too slow for the many runs of a search."""


def is_small(case: Case) -> bool:
    """Return whether a case is small enough for a search."""
    return case.kind != "sampler" and sum(map(_size, case.inputs.values())) <= MAX_INPUT_NUMBERS


def _size(value: Any) -> int:
    """Count the numbers in tensors and lists and the characters in strings."""
    if isinstance(value, Tensor):
        return value.numel()
    if isinstance(value, list | tuple):
        return sum(map(_size, value))
    return len(value) if isinstance(value, str) else isinstance(value, int | float)


@dataclass
class TracedCase:
    """A small case, the correct value of every step on it, and the trace of the unmodified attempt."""

    index: int
    right: Mapping[str, Any]
    trace: Trace


@dataclass
class SubstitutedRuns:
    """Runs of an attempt on the small cases of an exercise, with substitutions, whose outputs are compared."""

    known: Behavior
    traced: TracedAttempt
    cases: list[TracedCase] = field(default_factory=list)
    failing: list[TracedCase] = field(default_factory=list)
    n_runs: int = 0
    other_mistake: Variant | None = None
    """A second mistake recognized in the attempt. The output counts as repaired if only this mistake remains."""

    def __post_init__(self) -> None:
        for index, case in enumerate(self.known.cases):
            if not is_small(case):
                continue
            one = self._trace(index)
            self.cases.append(one)
            if not self.is_repaired(one, one.trace):
                self.failing.append(one)

    @property
    def steps(self) -> InSteps:
        """The answer in steps."""
        assert self.known.exercise.steps is not None
        return self.known.exercise.steps

    @property
    def is_exhausted(self) -> bool:
        """Whether the maximum number of runs has been used up."""
        return self.n_runs > MAX_RUNS

    def run(self, one: TracedCase, substitutions: Mapping[int, str], *, is_recording: bool = False) -> Trace:
        """Run the attempt on a case with some expressions replaced by correct values."""
        return self.run_with(one.index, self.values(one, substitutions), is_recording=is_recording)

    def run_with(self, index: int, values: Mapping[int, Any], *, is_recording: bool = False) -> Trace:
        """Run the attempt on a case with some expressions replaced by arbitrary values."""
        self.n_runs += 1
        if self.is_exhausted:
            return Trace(error=("TookTooLong", ""))
        return self.traced.run(self.known.cases[index], values, is_recording=is_recording)

    def run_twice(self, one: TracedCase) -> tuple[Trace, Trace]:
        """Call the unmodified attempt twice on a case."""
        self.n_runs += 2
        return self.traced.run_twice(self.known.cases[one.index])

    def values(self, one: TracedCase, substitutions: Mapping[int, str]) -> dict[int, Any]:
        """Return the correct value for each expression, in the layout that the attempt uses."""
        return {number: in_layout(one.trace.values(number), one.right[step]) for number, step in substitutions.items()}

    def repairs(self, substitutions: Mapping[int, str]) -> bool:
        """Return whether the substitutions make the output correct in all small cases."""
        return self.repairs_with(lambda one: self.values(one, substitutions))

    def repairs_with(self, values: Callable[[TracedCase], Mapping[int, Any]]) -> bool:
        """Return whether the given values make the output correct in all small cases."""
        passing = [one for one in self.cases if one not in self.failing]
        # Run the failing cases first, because most substitutions do not repair them.
        return all(self.is_repaired(one, self.run_with(one.index, values(one))) for one in [*self.failing, *passing])

    def repairs_large_cases(self, values: Callable[[TracedCase], Mapping[int, Any]]) -> bool:
        """Return whether the given values also make the output correct in the cases that are not small."""
        small = {one.index for one in self.cases}
        for index, case in enumerate(self.known.cases):
            if index in small:
                continue
            if case.kind == "sampler":
                return False
            one = self._trace(index)
            if not self.is_repaired(one, self.run_with(index, values(one))):
                return False
        return True

    def is_repaired(self, one: TracedCase, trace: Trace) -> bool:
        """Return whether a run has the correct output, or the output of the other recognized mistake."""
        if trace.error is not None:
            return False
        known, mistake = self.known, self.other_mistake
        wanted = known.output(mistake, one.index) if mistake else known.expected[one.index]
        return distance(self.normalized(one, trace), wanted.get("output")) <= 1

    def normalized(self, one: TracedCase, trace: Trace) -> Any:
        """Convert the output of a run to the form in which the exercise compares outputs."""
        return self.known.exercise.normalize(trace.output, self.known.cases[one.index])

    def correct_steps(self, one: TracedCase, trace: Trace) -> set[str]:
        """Return the names of the steps whose correct value is a tensor that appears in a run."""
        if self.is_exhausted:
            return set()
        recorded = [trace.values(number) for number in self.order(trace)]
        correct = set()
        for name in self.steps.steps:
            right = one.right[name]
            if isinstance(right, Tensor) and any(matches(values, right) for values in recorded):
                correct.add(name)
        return correct

    def order(self, trace: Trace) -> list[int]:
        """List the expressions in the order of their first evaluation, followed by the expression that crashed."""
        order = list(dict.fromkeys(event.number for event in trace.events))
        if trace.crashed_in is not None and trace.crashed_in not in order:
            order += [trace.crashed_in, *self.traced.expressions[trace.crashed_in].inside]
        return order

    def _trace(self, index: int) -> TracedCase:
        return TracedCase(index, self._right_values(index), self.run_with(index, {}, is_recording=True))

    def _right_values(self, index: int) -> dict[str, Any]:
        if self.known.exercise.steps is None:
            return {}
        case = self.known.cases[index]
        inputs, keywords = copy_inputs(case.inputs), copy_inputs(case.keywords)
        module = [load_module(self.known.exercise.reference, case)] if self.steps.is_module else []
        values = self.steps.values(self.steps.arguments.bind(*module, *inputs.values(), **keywords))
        values.pop("self", None)
        return {name: _detached(value) for name, value in values.items()}


def _detached(value: Any) -> Any:
    return value.detach() if isinstance(value, Tensor) else value
