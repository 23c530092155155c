"""Compare values with correct values in any layout: transposed, reshaped or one slice per evaluation."""

from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch import Tensor

from transformer_course.checking.tolerance import distance
from transformer_course.running.trace_recorder import ValueSequence


def has_same_shape(events: Sequence[Any], right: Any) -> bool:
    """Return whether an expression has a single value, with the shape of the correct value."""
    return len(events) == 1 and isinstance(events[0], Tensor) and events[0].shape == getattr(right, "shape", None)


def is_number(value: Any) -> bool:
    """Return whether a value is a single number, possibly in a tensor."""
    return type(value) in (int, float) or (isinstance(value, Tensor) and not value.dim())


def matches(values: Sequence[Any], right: Any) -> bool:
    """Return whether the values of all evaluations of an expression equal a correct value in some layout."""
    if not values or not isinstance(right, Tensor) or right.numel() < 2:
        return False
    return any(
        len(layout) == len(values) and all(_equal(value, part) for value, part in zip(values, layout, strict=True))
        for layout in fitting_layouts(values, right)
    )


def matches_exactly(values: Sequence[Any], right: Any) -> bool:
    """Return whether an expression has a single value, which equals the correct value in the same layout."""
    return len(values) == 1 and isinstance(right, Tensor) and _equal(values[0], right)


def _equal(value: Any, right: Tensor) -> bool:
    if not isinstance(value, Tensor) or value.shape != right.shape:
        return False
    if value.is_floating_point() and right.is_floating_point():
        # In a mask, −1e9 is as correct as −∞.
        value, right = (t.double().masked_fill(t <= -1e8, -torch.inf) for t in (value, right))
        return distance(value, right) <= 1
    return bool(torch.equal(value.double(), right.double()))


def fitting_layouts(values: Sequence[Any], right: Tensor) -> Iterator[list[Tensor]]:
    """Yield the layouts of a correct value that fit the shapes of all of an expression's values."""
    first = values[0]
    if not isinstance(first, Tensor):
        return
    if len(values) == 1:
        if first.shape == right.shape:
            yield [right]
            return
        if right.dim() == 4 and first.shape == right.transpose(1, 2).shape:
            yield [right.transpose(1, 2)]
        if right.dim() >= 2 and first.shape == right.mT.shape:
            yield [right.mT]
        elif first.numel() == right.numel():
            yield [right.reshape(first.shape)]
        return
    for axis, length in enumerate(right.shape):
        if length == len(values) and right.select(axis, 0).shape == first.shape:
            yield list(right.unbind(axis))
        elif length == len(values) and right.narrow(axis, 0, 1).shape == first.shape:
            yield list(torch.split(right, 1, axis))


def in_layout(values: Sequence[Any], right: Any) -> Any:
    """Return the correct value in the best-fitting layout, or unchanged if none fits."""
    if not isinstance(right, Tensor):
        return right
    layout = next(fitting_layouts(values, right), None) if values else None
    if layout is None or matches(values, right):  # if the values already match, their layout does not matter
        return right
    return layout[0] if len(layout) == 1 else ValueSequence(layout)
