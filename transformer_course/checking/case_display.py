"""A case as rows of text: its inputs if they are few, what was expected, and what the attempt gives."""

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
"""The inputs are shown if they have no more numbers: such a case can still be worked by hand."""
MAX_PARAMETER_NUMBERS = 24
"""The parameters of a module are shown if they have no more numbers."""
MAX_NUMBERS_BY_HAND = 24
"""A case with no more numbers in its inputs and its output is shown below the name of a mistake."""


def case_by_hand(
    exercise: Exercise, cases: Sequence[Case], observed: Sequence[Observation], expected: Sequence[Observation]
) -> str:
    """Return the first case that differs and is small enough to be worked by hand, as rows with a title; "" if none."""
    for index, (case, one, right) in enumerate(zip(cases, observed, expected, strict=False)):
        value, wanted = dict(one).get("output"), dict(right).get("output")
        n_numbers = _count_shown({**case.arguments, **case.parameters, **case.inputs, **case.keywords})
        is_small = case.kind == "function" and n_numbers + count_numbers(wanted) <= MAX_NUMBERS_BY_HAND
        if is_small and "output" in one and list(few_inputs(case)) and distance(value, wanted) > 1:
            title = f"Case {index + 1} of {len(cases)} ({case.label}):"
            return f"{title}\n{case_rows(exercise, case, cast(PlainData, value), cast(PlainData, wanted))}"
    return ""


def case_rows(exercise: Exercise, case: Case, observed: PlainData, right: PlainData, with_inputs: bool = True) -> str:
    """Return a line for each input, if they are few, and for what was expected and what came; else their shapes."""
    rows = [(name, format_value(value)) for name, value in few_inputs(case)] if with_inputs else []
    shapes = "" if rows else named_shapes.describe_inputs(exercise.reference, {**case.inputs, **case.keywords})
    got, expected = format_both(observed, right)
    rows += [("expected", expected), ("got", got)]
    width = max(len(name) for name, _ in rows)
    lines = [f"    {name:{width}}  {text}" for name, text in rows]
    return "\n".join([*lines, f"The inputs: {shapes}."] if shapes else lines)


def few_inputs(case: Case) -> Iterator[tuple[str, object]]:
    """Yield what the case can be worked by hand from: arguments and parameters of a module, inputs, keywords."""
    if has_few_inputs(case):
        yield from ((name, value) for name, value in case.arguments.items() if not is_description(value))
        if _has_few_parameters(case):
            yield from case.parameters.items()
        called = {**case.inputs, **case.keywords}
        yield from ((name, value) for name, value in called.items() if not is_description(value))


def has_few_inputs(case: Case) -> bool:
    """Return whether the inputs of a case are few enough to be shown."""
    return _count_shown({**case.inputs, **case.keywords}) <= MAX_INPUT_NUMBERS


def _has_few_parameters(case: Case) -> bool:
    return _count_shown(case.parameters) <= MAX_PARAMETER_NUMBERS


def _count_shown(values: Mapping[str, object]) -> int:
    """Return the number of numbers in values, without models, which are not shown."""
    return sum(count_numbers(value) for value in values.values() if not is_description(value))
