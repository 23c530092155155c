"""Find the expression that repairs the output when it is replaced by the correct value of a step.

Correct answers differ in the steps that they take, so a missing step proves nothing. A substitution is a proof: if it
makes the output correct in all small cases, the fault is in the replaced expression or in a value that it uses.
"""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from torch import Tensor

from transformer_course.checking.tolerance import distance
from transformer_course.checking.value_difference import describe_difference
from transformer_course.exercise import Mistake
from transformer_course.generated_mistakes.generated_mistake import GeneratedMistake
from transformer_course.generated_mistakes.step_words import StepWords
from transformer_course.locating.candidate_expressions import contains_replaced, is_candidate, is_condition
from transformer_course.locating.fault import Fault
from transformer_course.locating.fault_wording import describe_fault, step_hints, unused_value
from transformer_course.locating.substituted_runs import SubstitutedRuns, TracedCase
from transformer_course.locating.value_layouts import has_same_shape, in_layout, is_number, matches, matches_exactly
from transformer_course.running.instrumentation import Expression
from transformer_course.running.plain_data import same, to_plain_data
from transformer_course.running.trace_recorder import ValueSequence
from transformer_course.steps import needs

MAX_MISTAKES = 3
"""Attempts with more mistakes are not analyzed."""
_READS = re.compile(r"[\w.]+\.(?:shape\[[^\]]*\]|size\([^)]*\)|numel\(\))|len\(\w+\)|self\.\w+(?:\.m?T)?")
"""Expressions that read a size or an attribute. Replacing a size proves little because many sizes are equal, and the
fault behind a wrong attribute is where the attribute is set.
"""


class StepSearch:
    """A search in an attempt for the expression that computes a wrong value for a step."""

    def __init__(self, runs: SubstitutedRuns) -> None:
        self.runs, self.expressions = runs, runs.traced.expressions

    def first_fault(self) -> Fault | None:
        """Return the first fault. To prove it, up to ``MAX_MISTAKES`` faults are repaired one after another."""
        substitutions: dict[int, str] = {}
        first: tuple[Expression, str] | None = None
        for _ in range(MAX_MISTAKES):
            repairing = self._repairing(substitutions)
            earlier = self._earlier(substitutions, repairing)
            if earlier is None and repairing is not None:
                return self._fault(*(first or repairing), proven=first is None)
            if earlier is None:
                break
            first = first or earlier
            substitutions[earlier[0].number] = earlier[1]
        return self._fault(*first, proven=False, supposed=True) if first else None

    def mistake(self, mistake: Mistake, *others: Mistake) -> tuple[Expression, str] | None:
        """Return the expression that makes a recognized mistake and its step, or None if there is no proof.

        If the expression is replaced by the correct value of a step that the mistake changes, the output must become
        correct. If a second mistake was recognized, the output must become the same as for an answer with only the
        second mistake.
        """
        if not self.runs.failing or self.runs.known.exercise.steps is None or len(others) > 1:
            return None
        variants = [variant for variant in mistake.step_variants if variant.of is self.runs.steps]
        changed = {step for variant in variants for step in variant.changes}
        if isinstance(mistake, GeneratedMistake):
            changed |= {reading.step for reading in mistake.edit.readings}
        for self.runs.other_mistake in others[0].step_variants if others else (None,):
            found = self._repairing({}, changed)
            if found and self._is_certain(*found) and not self._may_be_in_a_loop(found[0]):
                return None if _READS.fullmatch(found[0].text) else found
        return None

    def _repairing(
        self, substitutions: Mapping[int, str], steps: Collection[str] | None = None
    ) -> tuple[Expression, str] | None:
        """Return the earliest step whose correct value repairs the output, and the expression that it replaces.

        The value of a later step could repair the output in many expressions, so the earliest step is chosen. If
        ``steps`` is given, only these steps are tried.
        """
        failing = self.runs.failing[0]
        for step in failing.right:
            if steps is not None and step not in steps:
                continue
            repairing = [
                self.expressions[number]
                for number in self.runs.order(failing.trace)
                if number not in substitutions
                and not contains_replaced(self.runs, number, substitutions)
                and is_candidate(self.runs, failing, number, step)
                and self.runs.repairs({**substitutions, number: step})
                and not self._proves_nothing(number, step, substitutions)
            ]
            if repairing:
                return self._outermost(self._last_operation(repairing), step, substitutions), step
        return None

    def _last_operation(self, repairing: Sequence[Expression]) -> Expression:
        """Return the last expression that is not just a name: before a norm, values of any scale may be correct."""
        last = ([expression for expression in repairing if not expression.is_name] or repairing)[-1]
        return next(expression for expression in repairing if self._have_same_values(expression, last))

    def _outermost(self, expression: Expression, step: str, substitutions: Mapping[int, str]) -> Expression:
        """Return the largest enclosing expression that, replaced by the step's value, also repairs the output."""
        failing, outermost = self.runs.failing[0], expression
        for number in expression.inside:
            is_usable = not is_condition(failing, number) and number not in substitutions
            if is_usable and self.runs.repairs({**substitutions, number: step}):
                outermost = self.expressions[number]
        return outermost

    def _have_same_values(self, one: Expression, other: Expression) -> bool:
        """Return whether two expressions have the same values, as a call and its function's return expression do."""
        trace = self.runs.failing[0].trace
        values, others = trace.values(one.number), trace.values(other.number)
        return one is other or (not one.is_name and bool(values) and same(values, others))

    def _proves_nothing(self, number: int, step: str, substitutions: Mapping[int, str]) -> bool:
        """Return whether a wrong value of the same expression also repairs the output."""
        failing = self.runs.failing[0]
        values = self.runs.values(failing, {**substitutions, number: step})
        if not isinstance(values[number], int | float):
            return self._decides_a_comparison(number, values, failing)
        values[number] = 3 * values[number] + 1
        return self.runs.is_repaired(failing, self.runs.run_with(failing.index, values))

    def _decides_a_comparison(self, number: int, values: Mapping[int, Any], failing: TracedCase) -> bool:
        """Return whether a replacement makes an enclosing comparison True everywhere or False everywhere.

        The comparison, which may create a mask, then no longer has any effect.
        """
        inside = self.expressions[number].inside
        comparisons = [outer for outer in inside if self.expressions[outer].kind == "Compare"]
        if not comparisons:
            return False
        trace = self.runs.run_with(failing.index, values, is_recording=True)
        return any(
            _is_constant(trace.values(comparison)) and not _is_constant(failing.trace.values(comparison))
            for comparison in comparisons
        )

    def _earlier(
        self, substitutions: Mapping[int, str], repairing: tuple[Expression, str] | None
    ) -> tuple[Expression, str] | None:
        """Find a wrong step before the step of the repairing expression; return the expression that computes it.

        Replacing the expression with the wrong step's correct value must also correct some later steps.

        Returns:
            The expression and the wrong step, or None if there is no such step.
        """
        runs = self.runs
        failing = runs.failing[0]
        trace = runs.run(failing, substitutions, is_recording=True) if substitutions else failing.trace
        correct = runs.correct_steps(failing, trace)
        names = list(runs.steps.steps)
        end = names.index(repairing[1]) if repairing and repairing[1] in names else len(names) - 1
        for step in names[:end]:
            if step in correct or not isinstance(failing.right[step], Tensor):
                continue
            if not correct.issuperset(self._tensors_needed(step)):
                continue
            number = self._most_helpful(step, substitutions, correct, repairing)
            if number is not None:
                return self.expressions[number], step
        return None

    def _most_helpful(
        self, step: str, substitutions: Mapping[int, str], correct: set[str], before: tuple[Expression, str] | None
    ) -> int | None:
        """Return the expression that, replaced by a step's value, corrects the most other steps, or None."""
        runs, failing = self.runs, self.runs.failing[0]
        best_number, best_gain = None, 0
        for number in runs.order(failing.trace):
            if before and number == before[0].number:
                break
            if number in substitutions or self.expressions[number].is_name:
                continue
            if not self._may_compute(number, step):
                continue
            trace = runs.run(failing, {**substitutions, number: step}, is_recording=True)
            gain = len(runs.correct_steps(failing, trace) - correct - {step})
            if gain > best_gain:
                best_number, best_gain = number, gain
        return best_number

    def _may_compute(self, number: int, step: str) -> bool:
        """Return whether an expression may be an attempt at a step.

        The expression must have the shape of the step's value, and must not have the value of any other step.
        """
        failing = self.runs.failing[0]
        events = failing.trace.values(number)
        if not is_candidate(self.runs, failing, number, step) or not has_same_shape(events, failing.right[step]):
            return False
        others = [right for name, right in failing.right.items() if name != step]
        return not any(_has_several_numbers(right) and matches(events, right) for right in others)

    def _tensors_needed(self, step: str) -> list[str]:
        """List the steps that a step uses and whose values are tensors."""
        steps = self.runs.steps.steps
        right = self.runs.failing[0].right
        return [need for need in needs(steps[step]) if need in steps and isinstance(right[need], Tensor)]

    def _is_the_answer(self, step: str) -> bool:
        """Return whether the value of a step equals the answer."""
        right, last = self.runs.failing[0].right, self.runs.steps.last
        return step == last or distance(right[step], right[last]) <= 1

    def _is_certain(self, expression: Expression, step: str) -> bool:
        """Return whether the fault is in the expression itself and not in a value that it uses."""
        if step not in self.runs.steps.steps and expression.text == step:
            return True  # the argument was overwritten
        if not self._uses_correct_values(expression):
            return False
        return not self._is_the_answer(step) or self._reaches_last_step()

    def _reaches_last_step(self) -> bool:
        """Return whether all values that the last step uses are computed correctly somewhere."""
        failing = self.runs.failing[0]
        correct = self.runs.correct_steps(failing, failing.trace)
        return correct.issuperset(self._tensors_needed(self.runs.steps.last))

    def _uses_correct_values(self, expression: Expression) -> bool:
        """Return whether all names in an expression have correct values of arguments or steps, or correct sizes."""
        if expression.kind == "AugAssign":
            return False  # the previous value of its target is not recorded
        for name in self.expressions:
            if not name.is_name or (name is not expression and expression.number not in name.inside):
                continue
            for case in self.runs.cases:
                values = case.trace.values(name.number)
                if values and not _are_correct(values, case.right.values()):
                    return False
        return True

    def _may_be_in_a_loop(self, expression: Expression) -> bool:
        """Return whether a loop around the expression may end after one iteration, which would be the actual fault."""
        is_indented = _indentation(expression) > min(map(_indentation, self.expressions))
        return is_indented and all(len(case.trace.values(expression.number)) < 2 for case in self.runs.cases)

    def _fault(self, expression: Expression, step: str, *, proven: bool, supposed: bool = False) -> Fault | None:
        runs, failing = self.runs, self.runs.failing[0]
        events = failing.trace.values(expression.number)
        noun = StepWords(runs.steps).noun(step)
        if expression.text == step and step not in runs.steps.steps:
            noun += ", unchanged"
        is_other_name = expression.is_name and expression.text != step
        is_misplaced = is_other_name and any(matches_exactly(events, right) for right in failing.right.values())
        is_certain = self._is_certain(expression, step)
        is_answer = self._is_the_answer(step)
        if is_answer and not is_certain:
            return None  # the last expression of every wrong attempt should be the answer
        right = in_layout(events, failing.right[step])
        difference = ""
        if len(events) == 1 and not is_misplaced:
            other_cases = [to_plain_data(case.right[step]) for case in runs.cases]
            difference = describe_difference(events[0], to_plain_data(right), other_cases)
        if not events and failing.trace.error:
            difference = f"it crashes ({failing.trace.error[0]})"

        def replacements(case: TracedCase) -> Mapping[int, Any]:
            return runs.values(case, {expression.number: step})

        problem = describe_fault(
            expression,
            noun,
            difference,
            is_misplaced=is_misplaced,
            is_proven=proven,
            is_supposed=supposed,
            is_certain=is_certain,
            is_wrong_after=not (proven or supposed) and self._is_wrong_after(expression, step),
            is_piece=isinstance(right, ValueSequence),
            is_all=proven and is_certain and not is_answer and runs.repairs_large_cases(replacements),
            before=None if supposed else self._correct_before(expression, noun),
        )
        hints = step_hints(runs.steps, expression, step)
        is_crash = not events and not expression.is_name
        return Fault(
            expression, problem, hints, step, proven, is_misplaced, is_certain=proven and is_certain, is_crash=is_crash
        )

    def unused_value(self, stops_at: str) -> Fault | None:
        """Return the last expression that computes a later step correctly, although the output does not depend on it.

        Args:
            stops_at: The step or argument that the attempt returns.
        """
        steps, order = self.runs.steps, self.runs.order(self.runs.failing[0].trace)
        later = [name for name in steps.steps if stops_at not in steps.reached_from[name] and steps.has_noun(name)]
        for number in reversed(order):
            expression = self.expressions[number]
            if expression.is_name or not (computed := self._steps_computed_in(number, later)):
                continue
            noun, returned = (StepWords(steps).noun(name) for name in (computed[0], stops_at))
            hint = f"Your code computes {noun}. Which line should use it?"
            return Fault(expression, unused_value(expression, noun, returned), (hint, *steps.step_hints(later[-1])))
        return None

    def _is_wrong_after(self, expression: Expression, step: str) -> bool:
        """Return whether the output stays wrong if the expression is replaced by the correct value of the step."""
        failing = self.runs.failing[0]
        trace = self.runs.run(failing, {expression.number: step})
        return not self.runs.is_exhausted and not self.runs.is_repaired(failing, trace)

    def _steps_computed_in(self, number: int, steps: Iterable[str]) -> list[str]:
        """List the steps that an expression computes correctly in all small cases."""
        return [name for name in steps if all(_computes(case, number, name) for case in self.runs.cases)]

    def _correct_before(self, fault: Expression, wanted: str) -> tuple[Expression, str] | None:
        """Return the last expression on an earlier line that is a correct step in all small cases, and the step's noun.

        Return None if there is no such expression or the noun is ``wanted``.
        """
        steps, order = self.runs.steps, self.runs.order(self.runs.failing[0].trace)
        end = order.index(fault.number) if fault.number in order else len(order)
        for number in reversed(order[:end]):
            expression = self.expressions[number]
            if expression.is_name or len(expression.text) < 3 or expression.line == fault.line:
                continue
            computed = self._steps_computed_in(number, steps.steps)
            if computed and computed[0] != steps.last and steps.has_noun(computed[0]):
                noun = StepWords(steps).noun(computed[0])
                return (expression, noun) if noun != wanted else None
        return None


def _indentation(expression: Expression) -> int:
    return len(expression.source_line) - len(expression.source_line.lstrip())


def _computes(one: TracedCase, number: int, step: str) -> bool:
    """Return whether an expression computes a step correctly, as a whole in the correct shape or slice by slice."""
    values, right = one.trace.values(number), one.right[step]
    return matches(values, right) and (len(values) > 1 or has_same_shape(values, right))


def _are_correct(values: Sequence[Any], right: Collection[Any]) -> bool:
    """Return whether values equal a correct value in some layout, or are correct numbers and sizes."""
    if any(matches(values, one) or matches_exactly(values, one) for one in right):
        return True
    return all(_is_correct_number(value, right) for value in values)


def _is_correct_number(value: Any, right: Collection[Any]) -> bool:
    """Return whether a value is one of the correct numbers or the size of a dimension of a correct tensor."""
    if not is_number(value) and not (isinstance(value, Tensor) and value.numel() == 1):
        return False
    numbers: list[Any] = []
    for correct in right:
        if isinstance(correct, Tensor):
            numbers += correct.shape
        if is_number(correct) or (isinstance(correct, Tensor) and correct.numel() == 1):
            numbers.append(correct)
    return any(abs(float(value) - float(number)) <= 1e-6 * abs(float(number)) for number in numbers)


def _has_several_numbers(value: Any) -> bool:
    return isinstance(value, Tensor) and value.numel() > 1


def _is_constant(events: Sequence[Any]) -> bool:
    """Return whether each result of a comparison is True everywhere or False everywhere."""
    return all(isinstance(event, Tensor) and bool(event.all() or not event.any()) for event in events)
