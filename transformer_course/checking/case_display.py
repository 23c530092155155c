"""Format a case as rows of text: its inputs if they are small, the expected output and the attempt's output."""

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from transformer_course.checking import named_shapes
from transformer_course.checking.formatting import format_both, format_value
from transformer_course.checking.tolerance import distance
from transformer_course.exercise import Exercise
from transformer_course.running.case import Case
from transformer_course.running.observation import Observation
from transformer_course.running.plain_data import PlainData, count_numbers
from transformer_course.running.stand_in_models import is_description

MAX_INPUT_NUMBERS = 48
"""Inputs with more numbers than this are too large to work out by hand and are not shown."""
MAX_PARAMETER_NUMBERS = 24
"""A module's parameters are shown only up to this many numbers in total."""
MAX_NUMBERS_BY_HAND = 24
"""A case is shown below a recognized mistake only if its inputs and output have at most this many numbers."""


def case_by_hand(
    exercise: Exercise, cases: Sequence[Case], observed: Sequence[Observation], expected: Sequence[Observation]
) -> str:
    """Format the first case that differs and can be worked out by hand, with a title; return "" if there is none."""
    for index, (case, one, right) in enumerate(zip(cases, observed, expected, strict=False)):
        value, wanted = dict(one).get("output"), dict(right).get("output")
        n_numbers = _count_shown({**case.arguments, **case.parameters, **case.inputs, **case.keywords})
        is_small = case.kind == "function" and n_numbers + count_numbers(wanted) <= MAX_NUMBERS_BY_HAND
        if is_small and "output" in one and list(few_inputs(case)) and distance(value, wanted) > 1:
            title = f"Case {index + 1} of {len(cases)} ({case.label}):"
            return f"{title}\n{case_rows(exercise, case, cast(PlainData, value), cast(PlainData, wanted))}"
    return ""


def case_rows(exercise: Exercise, case: Case, observed: PlainData, right: PlainData, with_inputs: bool = True) -> str:
    """Format one line per input and one each for the expected and the actual output; list only shapes if inputs are
    large.
    """
    rows = [(name, format_value(value)) for name, value in few_inputs(case)] if with_inputs else []
    shapes = "" if rows else named_shapes.describe_inputs(exercise.reference, {**case.inputs, **case.keywords})
    got, expected = format_both(observed, right)
    rows += [("expected", expected), ("got", got)]
    width = max(len(name) for name, _ in rows)
    lines = [f"    {name:{width}}  {text}" for name, text in rows]
    return "\n".join([*lines, f"The inputs: {shapes}."] if shapes else lines)


def few_inputs(case: Case) -> Iterator[tuple[str, object]]:
    """Yield the name and value of each input of a small case: module arguments, parameters, inputs and keywords."""
    if has_few_inputs(case):
        yield from ((name, value) for name, value in case.arguments.items() if not is_description(value))
        if _has_few_parameters(case):
            yield from case.parameters.items()
        called = {**case.inputs, **case.keywords}
        yield from ((name, value) for name, value in called.items() if not is_description(value))


def has_few_inputs(case: Case) -> bool:
    """Return whether the inputs of a case are small enough to be shown."""
    return _count_shown({**case.inputs, **case.keywords}) <= MAX_INPUT_NUMBERS


def _has_few_parameters(case: Case) -> bool:
    return _count_shown(case.parameters) <= MAX_PARAMETER_NUMBERS


def _count_shown(values: Mapping[str, object]) -> int:
    """Count the numbers in values. Models are not shown, so they don't count."""
    return sum(count_numbers(value) for value in values.values() if not is_description(value))
