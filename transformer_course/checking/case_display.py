"""Format a case as rows of text: its inputs if they are small, the expected output and the attempt's output."""

from collections.abc import Collection, Iterator, Mapping, Sequence
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
"""Inputs with more numbers than this are too large to work through by hand and are not shown."""
MAX_PARAMETER_NUMBERS = 24
"""A module's parameters are shown only up to this many numbers in total."""
MAX_NUMBERS_BY_HAND = 24
"""A case is shown below a recognized mistake only if its inputs and output contain at most this many numbers."""


def case_by_hand(
    exercise: Exercise,
    cases: Sequence[Case],
    observed: Sequence[Observation],
    expected: Sequence[Observation],
    preferred: Collection[int] = (),
) -> str:
    """Format the first wrong case that can be worked through by hand, with a title. Return "" if there is none.

    Args:
        exercise: The exercise.
        cases: The cases.
        observed: The attempt's observation in each case.
        expected: The expected observation in each case.
        preferred: Indices of the cases to try first.
    """
    triples = list(enumerate(zip(cases, observed, expected, strict=False)))
    triples.sort(key=lambda item: item[0] not in preferred)
    for index, (case, observation, expectation) in triples:
        value, right = dict(observation).get("output"), dict(expectation).get("output")
        n_numbers = _count_displayed({**case.arguments, **case.parameters, **case.inputs, **case.keywords})
        is_small = case.kind == "function" and n_numbers + count_numbers(right) <= MAX_NUMBERS_BY_HAND
        if is_small and "output" in observation and list(displayed_inputs(case)) and distance(value, right) > 1:
            title = f"Case {index + 1} of {len(cases)} ({case.label}):"
            return f"{title}\n{case_rows(exercise, case, cast(PlainData, value), cast(PlainData, right))}"
    return ""


def case_rows(exercise: Exercise, case: Case, observed: PlainData, right: PlainData, with_inputs: bool = True) -> str:
    """Format the inputs, the expected output and the actual output, one per line. Show only shapes for large inputs."""
    rows = [(name, format_value(value)) for name, value in displayed_inputs(case)] if with_inputs else []
    shapes = "" if rows else named_shapes.describe_inputs(exercise.reference, {**case.inputs, **case.keywords})
    got, expected = format_both(observed, right)
    rows += [("expected", expected), ("got", got)]
    width = max(len(name) for name, _ in rows)
    lines = [f"    {name:{width}}  {text}" for name, text in rows]
    return "\n".join([*lines, f"The inputs: {shapes}."] if shapes else lines)


def displayed_inputs(case: Case) -> Iterator[tuple[str, object]]:
    """Yield the name and value of each input that is small enough to show, including a module's parameters."""
    if can_show_inputs(case):
        yield from ((name, value) for name, value in case.arguments.items() if not is_description(value))
        if _can_show_parameters(case):
            yield from case.parameters.items()
        passed = {**case.inputs, **case.keywords}
        yield from ((name, value) for name, value in passed.items() if not is_description(value))


def can_show_inputs(case: Case) -> bool:
    """Return whether the inputs of a case are small enough to be shown."""
    return _count_displayed({**case.inputs, **case.keywords}) <= MAX_INPUT_NUMBERS


def _can_show_parameters(case: Case) -> bool:
    return _count_displayed(case.parameters) <= MAX_PARAMETER_NUMBERS


def _count_displayed(values: Mapping[str, object]) -> int:
    """Count the numbers in values, except for models, which are not shown."""
    return sum(count_numbers(value) for value in values.values() if not is_description(value))
