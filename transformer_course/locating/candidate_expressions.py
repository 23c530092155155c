"""Select the expressions of an attempt that may be replaced by the correct value of a step.

Replacing an arbitrary expression proves nothing: it could reverse a branch, or any value of the same size could repair
the output.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_course.locating.substituted_runs import SubstitutedRuns, TracedCase
from transformer_course.locating.value_layouts import fitting_layouts, is_number, matches_exactly
from transformer_course.running.instrumentation import Expression
from transformer_course.running.plain_data import same

_FACTORY = re.compile(r"[\w.]*\b(?:zeros|ones|empty|full)(?:_like)?\(|[\w.]*\.new_(?:zeros|ones|empty|full)\(")
"""Calls that create a tensor to be filled later."""


def is_candidate(runs: SubstitutedRuns, one: TracedCase, number: int, step: str) -> bool:
    """Return whether the value of a step may replace an expression. The expression's own value must be wrong."""
    if runs.is_exhausted:
        return False
    expression, right = runs.traced.expressions[number], one.right[step]
    if not isinstance(right, Tensor) and type(right) not in (int, float):
        return False
    events = one.trace.values(number)
    if not events:  # the expression was never evaluated, so the crash must be in it or in one of its parts
        return number == one.trace.crashed_in or one.trace.crashed_in in _parts(runs, number)
    if not all(_fits_number_of_evaluations(case.trace.values(number), case.right[step]) for case in runs.cases):
        return False
    if any(is_condition(one, outer) for outer in (number, *expression.inside)):
        return False  # any value except 0 would count as True
    if not _has_same_type(events[0], right):
        return False
    if expression.is_name and isinstance(right, Tensor) and right.is_floating_point() and _is_mask(events[0]):
        return False  # numbers are not a replacement for a mask
    if matches_exactly(events, right) or _is_filled_later(runs, one, expression):
        return False
    if isinstance(right, Tensor) and expression.is_name and _is_read_only_for_its_size(expression):
        return False  # any value of that size would repair the output
    if any(matches_exactly(events, other) for other in one.right.values()):
        # A correct value is not the fault, unless it is the value of a wrong name.
        return expression.is_name and step != runs.steps.last
    return True


def is_condition(one: TracedCase, number: int) -> bool:
    """Return whether the value of an expression was a Python bool."""
    return any(type(value) is bool for value in one.trace.values(number))


def contains_replaced(runs: SubstitutedRuns, number: int, substitutions: Mapping[int, str]) -> bool:
    """Return whether an expression contains an expression that is already replaced."""
    return any(number in runs.traced.expressions[replaced].inside for replaced in substitutions)


def _parts(runs: SubstitutedRuns, number: int) -> set[int]:
    """Return the numbers of the expressions inside an expression."""
    return {expression.number for expression in runs.traced.expressions if number in expression.inside}


def _has_same_type(value: Any, right: Any) -> bool:
    """Return whether both values are tensors or both are numbers, possibly in a tensor without dimensions."""
    if isinstance(right, int | float):
        return is_number(value)
    return isinstance(value, Tensor)


def _is_mask(value: Any) -> bool:
    return isinstance(value, Tensor) and value.dtype == torch.bool


def _fits_number_of_evaluations(events: Sequence[Any], right: Any) -> bool:
    """Return whether an expression is evaluated once, or once per slice of the correct value as in a loop."""
    return len(events) < 2 or (isinstance(right, Tensor) and any(True for _ in fitting_layouts(events, right)))


def _is_read_only_for_its_size(name: Expression) -> bool:
    if name.source_line[: name.columns[0]].endswith("len("):
        return True
    attributes = r"\.(?:shape|size|dim|ndim|numel|dtype|device)\b"
    return re.match(attributes, name.source_line[name.columns[1] :]) is not None


def _is_filled_later(runs: SubstitutedRuns, one: TracedCase, expression: Expression) -> bool:
    """Return whether an expression creates a tensor that is filled later, so that its first value may be correct."""
    assignment = re.match(r"\s*(\w+)\s*(?::[^=]*)?=\s*", expression.source_line)
    if assignment is None or not _FACTORY.match(expression.text) or assignment.end() != expression.columns[0]:
        return False
    reads = [other for other in runs.traced.expressions if other.is_name and other.text == assignment[1]]
    values = one.trace.values(expression.number)
    return any(not same([value], values) for read in reads for value in one.trace.values(read.number))
