"""Find the first expression that changes an argument, introduces a wrong dtype or differs in a second call.

If the attempt crashed, this module describes the shapes in the expression that crashed.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_course.checking.formatting import format_value, join_words
from transformer_course.checking.named_shapes import name_dimensions
from transformer_course.checking.tolerance import distance
from transformer_course.running.instrumentation import Expression
from transformer_course.running.plain_data import same
from transformer_course.running.trace_recorder import Trace, ValueSequence

WRITING_NODES = ("Call", "Assign", "AugAssign")
CRASHES_OF_SHAPES = ("RuntimeError", "IndexError", "ValueError")
MAX_DISPLAYED_LENGTH = 30
"""Values with a longer representation are not shown."""
OPERATORS = re.compile(r"\)*\s*(@|\+|-|\*\*?|//?|%|&|\||\^|[<>]=?|[=!]=)\s*\(*")


def first_unrepeatable(expressions: Sequence[Expression], first: Trace, second: Trace) -> tuple[Expression, str] | None:
    """Return the first expression that differs in a second call, and both values if they are short numbers."""
    for one, other in zip(first.events, second.events, strict=False):
        if one.number != other.number:
            return None  # the second call took a different branch
        if not same(one.value, other.value, tolerance=1e-4):
            values = [format_value(value) for value in (one.value, other.value)]
            is_short = max(map(len, values)) <= MAX_DISPLAYED_LENGTH and "tensor" not in "".join(values)
            return expressions[one.number], f": {values[0]}, and then {values[1]}" if is_short else ""
    return None


def first_write(
    expressions: Sequence[Expression], trace: Trace, names: Collection[str]
) -> tuple[Expression, str] | None:
    """Return the first expression that writes into one of the named arguments, and the argument's name."""
    for number, name in trace.writes:
        if name in names:
            expression = expressions[number]
            # Otherwise, the write was in an earlier statement that is not recorded.
            return (expression, name) if expression.kind in WRITING_NODES else None
    return None


def is_other_dtype(value: object, right: object) -> bool:
    """Return whether a value has the correct numbers but a wrong dtype."""
    if not isinstance(value, Tensor) or not isinstance(right, Tensor) or value.dtype == right.dtype:
        return False
    converted = value.to(right.dtype)
    is_lossless = right.is_floating_point() or torch.equal(converted.to(value.dtype), value)
    return bool(is_lossless) and distance(converted, right) <= 1


def sources_of_dtype(expressions: Sequence[Expression], trace: Trace, dtype: torch.dtype) -> list[Expression]:
    """Return the expressions that have ``dtype`` although no subexpression has it, in evaluation order."""

    def has_dtype(number: int) -> bool:
        values = trace.values(number)
        return bool(values) and all(isinstance(value, Tensor) and value.dtype == dtype for value in values)

    sources = []
    for number in dict.fromkeys(event.number for event in trace.events):
        if expressions[number].is_name or not has_dtype(number):
            continue
        if not any(number in part.inside and has_dtype(part.number) for part in expressions):
            sources.append(expressions[number])
    return sources


def values_in_dtype(trace: Trace, expressions: Sequence[Expression], dtype: torch.dtype) -> Mapping[int, Any]:
    """Return replacements that give expressions the same numbers in a different dtype."""
    replacements = {}
    for expression in expressions:
        tensors = [value for value in trace.values(expression.number) if isinstance(value, Tensor)]
        replacements[expression.number] = ValueSequence([tensor.to(dtype) for tensor in tensors])
    return replacements


def shapes_in_crash(expressions: Sequence[Expression], trace: Trace) -> str:
    """Describe the shapes of the operands in the expression that crashed, or return "" if they don't explain it."""
    if trace.crashed_in is None or trace.error is None or trace.error[0] not in CRASHES_OF_SHAPES:
        return ""
    whole = expressions[trace.crashed_in]
    parents = [whole.number]
    for expression in expressions:
        if expression.inside[:1] == (whole.number,) and expression.kind in ("Tuple", "List"):
            parents.append(expression.number)
    parts, shapes = [], []
    for part in expressions:
        values = trace.values(part.number) if part.inside and part.inside[0] in parents else []
        if values and isinstance(value := values[-1], Tensor):
            parts.append(part)
            shapes.append(f"`{' '.join(part.text.split())}` {name_dimensions(value.shape, [])}")
    if not shapes:
        return ""
    if len(shapes) == 2 and (operator := _operator(whole, *parts)):
        return f"On your line {whole.line}, you combine these shapes: {shapes[0]} {operator} {shapes[1]}."
    return f"The shapes on your line {whole.line}: {join_words(shapes)}."


def _operator(whole: Expression, left: Expression, right: Expression) -> str:
    """Return the operator between two operands on the same line, or "" if there is none."""
    if whole.kind not in ("BinOp", "Compare") or left.line != right.line:
        return ""
    found = OPERATORS.fullmatch(whole.source_line[left.columns[1] : right.columns[0]])
    return found[1] if found else ""
