"""Speak of shapes in an exercise's own names: ``(n_query=2, d_v=5)`` instead of ``(2, 5)``."""

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, get_origin

import torch


def output_dimensions(reference: Callable[..., Any], place: int = 0) -> list[str]:
    """List the names of the output's dimensions, as the reference's annotation gives them.

    Args:
        reference: The function or module.
        place: Which output is meant, where there are several.
    """
    annotation = _signature(reference).return_annotation
    return _names(get_args(annotation)[place] if get_origin(annotation) is tuple else annotation)


def dimension_sizes(reference: Callable[..., Any], inputs: Mapping[str, Any]) -> dict[str, int]:
    """Find how large each named dimension is, given the inputs in order."""
    found: dict[str, int] = {}
    for parameter, value in zip(_signature(reference).parameters.values(), inputs.values(), strict=False):
        names = _names(parameter.annotation)
        if isinstance(value, torch.Tensor):
            leading = value.dim() - len([name for name in names if not name.startswith("*")])
            for name, size in zip(_unroll(names, leading), value.shape, strict=False):
                if name.isidentifier():
                    found.setdefault(name, size)
        elif isinstance(value, int) and not isinstance(value, bool):
            found.setdefault(parameter.name, value)
    return found


def describe_inputs(reference: Callable[..., Any], inputs: Mapping[str, Any]) -> str:
    """Write each input that is a tensor with its named dimensions, and each number; leave others out."""
    known, told = dimension_sizes(reference, inputs), []
    parameters = _signature(reference).parameters
    for name, value in inputs.items():
        if isinstance(value, torch.Tensor):
            dimensions = _names(parameters[name].annotation) if name in parameters else []
            told.append(f"{name} {name_dimensions(value.shape, dimensions, known)}")
        elif isinstance(value, int | float):
            told.append(f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}")
    return ", ".join(told)


def name_dimensions(shape: Sequence[int], dimensions: Sequence[str], known: Mapping[str, int]) -> str:
    """Write an expected shape with the names of its dimensions.

    >>> name_dimensions((2, 5), ["n_query", "d_v"], {})
    '(n_query=2, d_v=5)'
    """
    names = _unroll(dimensions, len(shape) - len([d for d in dimensions if not d.startswith("*")]))
    if len(names) != len(shape):
        return guess_dimensions(shape, known)
    return _format_shape(names, shape)


def guess_dimensions(shape: Sequence[int], known: Mapping[str, int]) -> str:
    """Write a shape nobody expected with the only names its sizes can stand for.

    >>> guess_dimensions((2, 3), {"n_query": 2, "n_key": 3, "d_v": 5})
    '(n_query=2, n_key=3)'
    """
    counts = Counter(known.values())
    by_size = {size: name for name, size in known.items() if counts[size] == 1 and size > 1}
    return _format_shape([by_size.get(size, "") for size in shape], shape)


def _format_shape(names: Sequence[str], shape: Sequence[int]) -> str:
    inside = ", ".join(f"{n}={s}" if n.isidentifier() else str(s) for n, s in zip(names, shape, strict=True))
    return f"({inside},)" if len(shape) == 1 else f"({inside})"


def _unroll(names: Sequence[str], leading: int) -> list[str]:
    """Give ``*batch`` as many places as are left over for it; one is called ``batch``."""
    unrolled: list[str] = []
    for name in names:
        if name.startswith("*"):
            unrolled += [name.strip("*#")] if leading == 1 else [""] * leading
        else:
            unrolled.append(name.strip("#"))
    return unrolled


def _signature(reference: Callable[..., Any]) -> inspect.Signature:
    if not inspect.isclass(reference):
        return inspect.signature(reference)
    forward = inspect.signature(reference.forward)  # type: ignore[attr-defined]
    return forward.replace(parameters=list(forward.parameters.values())[1:])


def _names(annotation: Any) -> list[str]:
    for kind in (annotation, *get_args(annotation)):
        if isinstance(text := getattr(kind, "dim_str", None), str):
            return text.split()
    return []
