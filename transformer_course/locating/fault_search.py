"""Find the fault in an attempt: a value that changes from call to call, an unused result, a wrong dtype or step."""

from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from transformer_course.checking.expected_behavior import Behavior
from transformer_course.checking.general_mistakes import IN_PLACE_HINTS
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Mistake
from transformer_course.locating import side_effect_source
from transformer_course.locating.code_repairs import CodeRepairs
from transformer_course.locating.discarded_results import first_discarded
from transformer_course.locating.fault import Fault
from transformer_course.locating.fault_wording import (
    DISCARDED_RESULT_HINTS,
    REST_IS_RIGHT,
    dtype_hints,
    quoted_line,
    second_call_hints,
    subject,
)
from transformer_course.locating.repair_wording import fault_of
from transformer_course.locating.step_search import StepSearch
from transformer_course.locating.substituted_runs import SubstitutedRuns, TracedCase
from transformer_course.running.edit_candidates import KINDS
from transformer_course.running.instrumentation import Expression
from transformer_course.running.plain_data import same
from transformer_course.running.trace import TracedAttempt


class FaultSearch:
    """A search for the faulty expression in an attempt.

    Args:
        known: The expected behavior.
        traced: The attempt.
        is_random: Whether the output is already known to be random. In a small case, a random output may repeat by
            chance.
    """

    def __init__(self, known: Behavior, traced: TracedAttempt, *, is_random: bool = False) -> None:
        self.known, self.traced, self.is_random = known, traced, is_random
        self.runs = SubstitutedRuns(known, traced)
        self._code_repairs = CodeRepairs(self.runs)

    @property
    def code(self) -> str:
        """The lines of the attempt that contain expressions."""
        return "\n".join(dict.fromkeys(expression.source_line for expression in self.traced.expressions))

    def fault(self) -> Fault | None:
        """Return the first fault. An unwritten function is not a fault, because the verdict already reports it."""
        failing = self.runs.failing
        if failing and failing[0].trace.error == ("NotImplementedError", ""):
            return None
        if found := self._different_at_second_call() or self.discarded_result() or self._wrong_dtype():
            return found
        step = StepSearch(self.runs).first_fault() if failing and self.known.exercise.steps else None
        if step and step.is_certain and not step.is_crash:
            return step
        return self.repair() or step

    def repair(self, kinds: Sequence[str] = KINDS) -> Fault | None:
        """Return the fault implied by the likeliest edit that repairs the code, or None."""
        edit = self._code_repairs.likeliest(kinds)
        return fault_of(edit) if edit else None

    def discarded_result(self) -> Fault | None:
        """Return the first expression whose result is discarded."""
        found = first_discarded(self.traced.expressions, [case.trace for case in self.runs.failing])
        return found and Fault(found[0], found[1], DISCARDED_RESULT_HINTS)

    def unused_value(self, stops_at: str) -> Fault | None:
        """Return the last expression that computes a step after the step that a half-finished answer returns."""
        return StepSearch(self.runs).unused_value(stops_at) if self.runs.failing else None

    def change_of(self, changed: Sequence[str]) -> Fault | None:
        """Return the first expression that writes into one of the changed arguments.

        If a model's mode changed, no line is located: changing the mode is often correct, and only the line that
        restores the mode is missing.
        """
        names = {name.partition(".")[0] for name in changed if not name.endswith(".training")}
        for case in self.runs.cases if names else ():
            if found := side_effect_source.first_write(self.traced.expressions, case.trace, names):
                expression, name = found
                problem = f"The argument `{name}` is changed here:"
                return Fault(expression, problem, IN_PLACE_HINTS[1:])
        return None

    def mistake(self, mistake: Mistake, *others: Mistake) -> tuple[Expression, str] | None:
        """Return the expression that makes a recognized mistake and its step, or None if there is no proof."""
        return StepSearch(self.runs).mistake(mistake, *others)

    def shapes_in_crash(self, verdict: Verdict) -> str:
        """Describe the shapes in the expression that crashed, or return "" if the verdict reports a different error."""
        crashed = next((case.trace for case in self.runs.failing if case.trace.crashed_in is not None), None)
        if verdict.status != "crashed" or crashed is None or crashed.error is None:
            return ""
        is_same_error = ": ".join(crashed.error) in verdict.message
        return side_effect_source.shapes_in_crash(self.traced.expressions, crashed) if is_same_error else ""

    def _different_at_second_call(self) -> Fault | None:
        """Return the first expression whose value differs when the attempt is called again."""
        failing = self.runs.failing if self.is_random else self.runs.failing[:1]
        for case in failing or self.runs.cases:
            if case.trace.error or self.runs.is_exhausted or self.known.reference_is_random(case.index):
                continue
            first, second = self.runs.run_twice(case)
            if first.error or second.error or same(first.output, second.output, tolerance=1e-4):
                continue
            if found := side_effect_source.first_unrepeatable(self.traced.expressions, first, second):
                expression, values = found
                problem = f"{subject(expression)} is different when your code is called again{values}."
                if "dropout" in expression.text:
                    problem += " It drops numbers at random, in eval mode as well. This exercise uses no dropout."
                else:
                    problem += " What does it depend on, apart from the arguments?"
                return Fault(expression, problem, second_call_hints(expression))
        return None

    def _wrong_dtype(self) -> Fault | None:
        """Return the first expression that converts correct numbers to a wrong dtype."""
        if not self.runs.failing:
            return None
        failing = self.runs.failing[0]
        right = self.known.expected[failing.index].get("output")
        output = self.runs.normalized(failing, failing.trace)
        if not side_effect_source.is_other_dtype(output, right):
            return None
        assert isinstance(output, Tensor) and isinstance(right, Tensor)
        sources = side_effect_source.sources_of_dtype(self.traced.expressions, failing.trace, output.dtype)
        dtype = right.dtype

        def converted(case: TracedCase) -> Mapping[int, Any]:
            return side_effect_source.values_in_dtype(case.trace, sources, dtype)

        if not sources or not self.runs.repairs_with(converted):
            return None
        first, *others = sources
        now, should = str(output.dtype).removeprefix("torch."), str(dtype).removeprefix("torch.")
        report = [f"{subject(first)} has dtype {now} instead of {should}."]
        if others:
            report.append(f"So does {quoted_line(others[0])}.")
        elif self.runs.repairs_large_cases(converted):
            report.append(REST_IS_RIGHT)
        return Fault(first, " ".join(report), dtype_hints(first, should))
