"""Record the values of expressions while instrumented code runs, and supply the values that replace expressions."""

import copy
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from torch import Tensor, nn

from transformer_course.running.plain_data import PlainData, to_plain_data

MAX_NUMBERS = 4096
"""Larger tensors are not recorded. Small cases suffice to locate a mistake."""
MAX_EVENTS = 2000
"""Maximum number of values recorded in one run."""
MAX_RECORDED_NUMBERS = 100_000
"""Maximum total number of elements in all values recorded in one run."""
MAX_LENGTH = 16
"""Longer lists and tuples are not recorded."""
MAX_DEPTH = 3
"""More deeply nested lists are not recorded."""


@dataclass(frozen=True)
class Event:
    """A recorded value of an expression.

    Args:
        number: The expression's number.
        evaluation: Number of earlier evaluations of the expression.
        value: The value, as plain data.
    """

    number: int
    evaluation: int
    value: PlainData


@dataclass
class Trace:
    """The recording of one call.

    Args:
        output: The return value, or None if the call crashed.
        error: Type and message of the exception, if the call crashed.
        crashed_in: Number of the smallest expression that contains the crash.
        events: The values of all expressions, in the order of evaluation.
        writes: For each write into an argument, in order: the number of the expression and the argument's name.
    """

    output: PlainData = None
    error: tuple[str, str] | None = None
    crashed_in: int | None = None
    events: list[Event] = field(default_factory=list)
    writes: list[tuple[int, str]] = field(default_factory=list)

    def values(self, number: int) -> list[PlainData]:
        """Return the values from all evaluations of an expression. Call this method after the recording has ended."""
        return self._values.get(number, [])

    @cached_property
    def _values(self) -> dict[int, list[PlainData]]:
        values: dict[int, list[PlainData]] = {}
        for event in self.events:
            values.setdefault(event.number, []).append(event.value)
        return values


@dataclass(frozen=True)
class ValueSequence:
    """Replacement values of an expression that is evaluated several times, in order."""

    values: Sequence[Any]


class TraceRecorder:
    """Receives calls from instrumented code: records values and returns replacements.

    Args:
        replacements: The replacement values, keyed by number.
        is_recording: Whether to record values.

    Attributes:
        trace: The trace of the current call.
    """

    def __init__(self, replacements: Mapping[int, Any], is_recording: bool) -> None:
        self._replacements, self._is_recording = replacements, is_recording
        self.start({})

    def start(self, arguments: Mapping[str, Any]) -> None:
        """Start the trace of a call, and watch its arguments for in-place modifications."""
        self.trace = Trace()
        self._n_evaluations: Counter[int] = Counter()
        self._n_replaced: Counter[int] = Counter()
        self._n_numbers = 0
        self._arguments: dict[str, tuple[Any, Sequence[Tensor]]] = {}
        for name, value in arguments.items():
            tensors = _tensors_of(value)
            if tensors or isinstance(value, nn.Module):
                self._arguments[name] = value, tensors
        self._states = {name: _state(*argument) for name, argument in self._arguments.items()}

    def record(self, number: int, value: Any) -> Any:
        """Record the value of an expression and return it."""
        if not self._is_recording:
            return value
        evaluation = self._n_evaluations[number]
        self._n_evaluations[number] += 1
        for name, argument in self._arguments.items():
            if (state := _state(*argument)) != self._states[name]:
                self._states[name] = state
                self.trace.writes.append((number, name))
        size = _size(value)
        if number in self._replacements or size is None or len(self.trace.events) >= MAX_EVENTS:
            return value
        if self._n_numbers + size <= MAX_RECORDED_NUMBERS:
            self._n_numbers += size
            self.trace.events.append(Event(number, evaluation, to_plain_data(value)))
        return value

    def replacement(self, number: int) -> Any:
        """Return a copy of the replacement for an expression."""
        value = self._replacements[number]
        if isinstance(value, ValueSequence):
            value = value.values[min(self._n_replaced[number], len(value.values) - 1)]
        self._n_replaced[number] += 1
        return value.clone() if isinstance(value, Tensor) else copy.copy(value)


def _size(value: Any, depth: int = 0) -> int | None:
    """Return the number of elements in a value, or None if the value is not recorded."""
    if isinstance(value, Tensor):
        return value.numel() if value.numel() <= MAX_NUMBERS and not value.is_complex() else None
    if isinstance(value, tuple | list) and len(value) <= MAX_LENGTH and depth < MAX_DEPTH:
        total = 0
        for part in value:
            size = _size(part, depth + 1)
            if size is None:
                return None
            total += size
        return total
    return 1 if type(value) in (int, float, bool) else None


def _tensors_of(argument: Any) -> Sequence[Tensor]:
    """List the tensors of an argument that may be modified."""
    if isinstance(argument, nn.Module):
        return [*argument.parameters(), *argument.buffers()]
    return [argument] if isinstance(argument, Tensor) else []


def _state(argument: Any, tensors: Sequence[Tensor]) -> Hashable:
    """Return a key that changes when an argument is modified or a model changes its mode."""
    return getattr(argument, "training", None), *(tensor._version for tensor in tensors)
