"""Decide which expressions of an attempt the correct value of a step may replace.

Replacing an arbitrary expression proves nothing: a branch could be reversed, or any value of the same size could do.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from torch import Tensor

from transformer_course.locating.substituted_runs import SubstitutedRuns, TracedCase
from transformer_course.locating.value_layouts import fitting_layouts, is_number, matches_exactly
from transformer_course.running.instrumentation import Expression
from transformer_course.running.plain_data import same

_FACTORY = re.compile(r"[\w.]*\b(?:zeros|ones|empty|full)(?:_like)?\(|[\w.]*\.new_(?:zeros|ones|empty|full)\(")
"""Calls that create a tensor to be filled later."""


def is_candidate(runs: SubstitutedRuns, one: TracedCase, number: int, step: str) -> bool:
    """Return whether the value of a step may replace an expression, which must not be correct already."""
    if runs.is_exhausted:
        return False
    expression, right = runs.traced.expressions[number], one.right[step]
    if not isinstance(right, Tensor) and type(right) not in (int, float):
        return False
    events = one.trace.values(number)
    if not events:  # never evaluated, so the crash must be in it or in one of its parts
        return number == one.trace.crashed_in or one.trace.crashed_in in _parts(runs, number)
    if not all(_fits_number_of_evaluations(each.trace.values(number), each.right[step]) for each in runs.cases):
        return False
    if any(is_condition(one, holder) for holder in (number, *expression.inside)):
        return False  # any value but 0 would count as True
    if not _has_same_type(events[0], right):
        return False
    if matches_exactly(events, right) or _is_filled_later(runs, one, expression):
        return False
    if isinstance(right, Tensor) and expression.is_name and _is_read_only_for_its_size(expression):
        return False  # any value of that size would do
    if any(matches_exactly(events, other) for other in one.right.values()):
        # A correct value is not to blame, unless a name refers to the wrong one.
        return expression.is_name and step != runs.steps.last
    return True


def is_condition(one: TracedCase, number: int) -> bool:
    """Return whether an expression was evaluated to a Python bool."""
    return any(type(value) is bool for value in one.trace.values(number))


def contains_replaced(runs: SubstitutedRuns, number: int, substitutions: Mapping[int, str]) -> bool:
    """Return whether an expression contains one that is already replaced."""
    return any(number in runs.traced.expressions[one].inside for one in substitutions)


def _parts(runs: SubstitutedRuns, number: int) -> set[int]:
    return {expression.number for expression in runs.traced.expressions if number in expression.inside}


def _has_same_type(value: Any, right: Any) -> bool:
    """Return whether both are tensors or both are numbers; a number may also replace a tensor without dimensions."""
    if isinstance(right, int | float):
        return is_number(value)
    return isinstance(value, Tensor)


def _fits_number_of_evaluations(events: Sequence[Any], right: Any) -> bool:
    """Return whether an expression is evaluated once or once per slice of the correct value, as in a loop."""
    return len(events) < 2 or (isinstance(right, Tensor) and any(True for _ in fitting_layouts(events, right)))


def _is_read_only_for_its_size(name: Expression) -> bool:
    if name.source_line[: name.columns[0]].endswith("len("):
        return True
    attributes = r"\.(?:shape|size|dim|ndim|numel|dtype|device)\b"
    return re.match(attributes, name.source_line[name.columns[1] :]) is not None


def _is_filled_later(runs: SubstitutedRuns, one: TracedCase, expression: Expression) -> bool:
    """Return whether an expression creates a tensor that the code fills later, so its first value may be right."""
    assignment = re.match(r"\s*(\w+)\s*(?::[^=]*)?=\s*", expression.source_line)
    if assignment is None or not _FACTORY.match(expression.text) or assignment.end() != expression.columns[0]:
        return False
    reads = [other for other in runs.traced.expressions if other.is_name and other.text == assignment[1]]
    values = one.trace.values(expression.number)
    return any(not same([value], values) for read in reads for value in one.trace.values(read.number))
