"""Shapes with the names that an exercise gives its dimensions: ``(n_query=2, d_v=5)`` instead of ``(2, 5)``."""

import inspect
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, get_origin

import torch


def output_dimensions(reference: Callable[..., Any], index: int = 0) -> list[str]:
    """List the names of the output's dimensions, from the reference's annotation.

    Args:
        reference: The function or module.
        index: The index of the output, where there are several.
    """
    annotation = _signature(reference).return_annotation
    return _names(get_args(annotation)[index] if get_origin(annotation) is tuple else annotation)


def dimension_sizes(reference: Callable[..., Any], inputs: Mapping[str, Any]) -> dict[str, int]:
    """Return the size of each named dimension, given the inputs in order."""
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
    """Return a line with the named dimensions of each input that is a tensor, and the value of each number."""
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
    """Return an expected shape with the names of its dimensions.

    >>> name_dimensions((2, 5), ["n_query", "d_v"], {})
    '(n_query=2, d_v=5)'
    """
    names = _unroll(dimensions, len(shape) - len([d for d in dimensions if not d.startswith("*")]))
    if len(names) != len(shape):
        return guess_dimensions(shape, known)
    return _format_shape(names, shape)


def guess_dimensions(shape: Sequence[int], known: Mapping[str, int]) -> str:
    """Return an unexpected shape with the only names that its sizes can stand for.

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
    """Replace ``*batch`` by a name for each of its dimensions: ``batch`` for one, none for several."""
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
