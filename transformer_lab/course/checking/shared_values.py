"""Run each step once for the same values: thousands of pairs of mistakes have most of their values in common."""

from collections.abc import Hashable, Iterator, Sequence
from typing import Any

from torch import Tensor

from transformer_lab.course.steps import Step

MAX_NUMBERS = 4096
"""Larger tensors count as equal only where they are the same object."""


class CannotBeShared(Exception):
    """A step changed a value that others share, or returned what can be used only once."""


class SharedValues:
    """What steps return, by what they are given. Equal values become one, so that what follows from them is shared."""

    def __init__(self) -> None:
        self._results: dict[Hashable, tuple[Any, Exception | None]] = {}
        self._known: dict[Hashable, Any] = {}
        self._kept: list[Any] = []

    def call(self, step: Step, values: Sequence[Any]) -> Any:
        """Return what a step returns for these values, or raise what it raises.

        Raises:
            CannotBeShared: The step changed one of them, so that nothing here can be relied upon any more, or returned
                what can be used only once.
        """
        key = (step, *map(id, values))
        if key not in self._results:
            self._results[key] = self._run(step, values)
        result, error = self._results[key]
        if error is not None:
            raise error.with_traceback(None)
        return result

    def shared(self, value: Any) -> Any:
        """Return the one object that stands for all values equal to this one; it is kept, as is its ``id``."""
        key = _key(value)
        if key not in self._known:
            self._known[key] = value
            self._kept.append(value)
        return self._known[key]

    def _run(self, step: Step, values: Sequence[Any]) -> tuple[Any, Exception | None]:
        before = [_state(value) for value in values]
        error, result = None, None
        try:
            result = step(*values)
        except Exception as raised:
            error = raised
        if isinstance(result, Iterator) or before != [_state(value) for value in values]:
            raise CannotBeShared
        return self.shared(result), error


def _key(value: Any) -> Hashable:
    if isinstance(value, Tensor) and value.numel() <= MAX_NUMBERS:
        return (value.dtype, value.shape, value.stride(), value.requires_grad, value.detach().numpy().tobytes())
    if value is None or isinstance(value, bool | int | float | str):
        return (type(value), value)
    return (object, id(value))


def _state(value: Any) -> Hashable:
    """Return what is another after a step that wrote into the value."""
    if isinstance(value, Tensor):
        return value._version
    if isinstance(value, dict):
        return tuple((key, id(item), _state(item)) for key, item in value.items())
    if isinstance(value, list | tuple):
        return tuple((id(item), _state(item)) for item in value)
    return id(value)
