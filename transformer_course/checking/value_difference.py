"""Describe in a clause how a value differs from the correct value."""

from collections.abc import Sequence

import torch
from torch import Tensor

from transformer_course.checking.formatting import format_both
from transformer_course.checking.named_shapes import name_dimensions
from transformer_course.checking.numeric_relation import explain_relation

MAX_DISPLAYED_NUMBERS = 6
"""If a value contains more numbers, only one wrong number is shown."""


def describe_difference(value: object, right: object, other_cases: Sequence[object] = ()) -> str:
    """Describe how a value differs from the correct value, or return "" if no helpful description is possible.

    Args:
        value: The attempt's value.
        right: The correct value.
        other_cases: The correct values in other cases. Rows that sum to 1 in a single case may do so by chance.
    """
    if type(value) is float and type(right) is int and value == right:
        return f"it is the float {value} instead of the int {right}"
    if not isinstance(value, Tensor) or not isinstance(right, Tensor):
        if isinstance(right, Tensor) or isinstance(value, Tensor | list | tuple):
            return ""
        return _it_is(value, right)
    if value.shape != right.shape:
        observed, expected = name_dimensions(value.shape, []), name_dimensions(right.shape, [])
        return f"its shape is {observed} instead of {expected}"
    if value.dtype == torch.bool and right.dtype == torch.bool:
        return _of_masks(value, right)
    if value.is_floating_point() != right.is_floating_point() or value.is_complex():
        return ""
    if value.dtype in (torch.float16, torch.bfloat16) and right.dtype == torch.float32:
        return f"its numbers are {str(value.dtype).removeprefix('torch.')}, which keeps only a few digits"
    if torch.equal(value, right.to(value.dtype)):
        return ""
    a, b = value.double(), right.double()
    if a.isnan().any() and not b.isnan().any():
        return "it contains NaN"
    if a.isinf().any() and not b.isinf().any():
        return "it contains infinity"
    of_sums = _of_sums(a, b) if all(map(is_distribution, (right, *other_cases))) else ""
    return of_sums or _as_clause(explain_relation(value, right.to(value.dtype))) or _of_numbers(a, b)


def _as_clause(sentence: str) -> str:
    sentence = sentence.rstrip(".")
    return sentence if sentence.startswith("True") else sentence[:1].lower() + sentence[1:]


def _of_masks(value: Tensor, right: Tensor) -> str:
    if relation := explain_relation(value, right):
        return _as_clause(relation)
    off = (value != right).nonzero()
    position = ", ".join(map(str, off[0].tolist()))
    return f"at [{position}] it is {bool(value[tuple(off[0])])} instead of {bool(right[tuple(off[0])])}"


def _of_sums(a: Tensor, b: Tensor) -> str:
    """Describe wrong sums along the last dimension. The sums of the correct value are all 1."""
    if b.shape[-1] < 2 or not a.isfinite().all():
        return ""
    sums = a.sum(-1)
    if _ones(sums):
        return ""
    worst = sums.flatten()[(sums - 1).abs().argmax()].item()
    columns = "; its columns sum to 1" if a.dim() > 1 and _ones(a.sum(-2)) else ""
    return f"one of its rows sums to {format_both(worst, 1.0)[0]} instead of 1{columns}"


def _of_numbers(a: Tensor, b: Tensor) -> str:
    if a.numel() <= MAX_DISPLAYED_NUMBERS:
        return _it_is(a, b)
    off = ~torch.isclose(a, b, rtol=1e-4, atol=1e-5, equal_nan=True)
    if not off.any():
        return ""
    index = off.nonzero()[0]
    position = ", ".join(map(str, index.tolist()))
    return f"at [{position}] {_it_is(a[tuple(index)], b[tuple(index)])}"


def _it_is(value: object, right: object) -> str:
    observed, expected = format_both(value, right)
    return f"it is {observed} instead of {expected}"


def is_distribution(value: object) -> bool:
    """Return whether all rows are probabilities that sum to 1. Integers are exempt: they may sum to 1 by chance."""
    return (
        isinstance(value, Tensor)
        and value.is_floating_point()
        and value.dim() > 0
        and bool((value >= 0).all())
        and _ones(value.double().sum(-1))
    )


def _ones(sums: Tensor) -> bool:
    return bool(torch.allclose(sums, torch.ones_like(sums), atol=1e-4))
