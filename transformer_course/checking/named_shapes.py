"""Format shapes with the exercise's dimension names: ``(n_query=2, d_v=5)`` instead of ``(2, 5)``."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args, get_origin

import torch


def output_dimensions(reference: Callable[..., Any], index: int = 0) -> list[str]:
    """List the names of the output's dimensions from the reference's annotation. Without names, the list is empty.

    Args:
        reference: The function or module.
        index: Index of the output, if there are several.
    """
    annotation = _signature(reference).return_annotation
    if get_origin(annotation) is not tuple:
        return _names(annotation)
    outputs = get_args(annotation)
    return _names(outputs[index]) if index < len(outputs) else []


def describe_inputs(reference: Callable[..., Any], inputs: Mapping[str, Any]) -> str:
    """Format the named dimensions of each input tensor and the value of each number on one line."""
    parts = []
    parameters = _signature(reference).parameters
    sizes: dict[str, int] = {}
    for name, value in inputs.items():
        if isinstance(value, torch.Tensor):
            dimensions = _names(parameters[name].annotation) if name in parameters else []
            axes = axis_names(value.dim(), dimensions) or [""] * value.dim()
            # The first dimension of an input that broadcasts may not be `batch`, so a name with two sizes is left out.
            axes = [a if n in (1, sizes.setdefault(a, n)) else "" for a, n in zip(axes, value.shape, strict=True)]
            parts.append(f"{name} {_format_shape(axes, value.shape)}")
        elif isinstance(value, int | float):
            parts.append(f"{name}={value:.4g}" if isinstance(value, float) else f"{name}={value}")
    return ", ".join(parts)


def absent_arguments(reference: Callable[..., Any], inputs: Mapping[str, Any]) -> list[str]:
    """List the arguments that are None in a call, explicitly or by default."""
    return [
        name
        for name, parameter in _signature(reference).parameters.items()
        if inputs.get(name, parameter.default) is None
    ]


def name_dimensions(shape: Sequence[int], dimensions: Sequence[str]) -> str:
    """Format a shape with its dimension names, or without names if there are too many or too few names.

    >>> name_dimensions((2, 5), ["n_query", "d_v"])
    '(n_query=2, d_v=5)'
    """
    return _format_shape(axis_names(len(shape), dimensions) or [""] * len(shape), shape)


def axis_names(n_axes: int, dimensions: Sequence[str]) -> list[str]:
    """Return a name, possibly empty, for each dimension of a tensor, or no names if there are too many or too few.

    >>> axis_names(3, ["*batch", "n_query", "d_v"])
    ['batch', 'n_query', 'd_v']
    """
    names = _unroll(dimensions, n_axes - len([d for d in dimensions if not d.startswith("*")]))
    return names if len(names) == n_axes else []


def _format_shape(names: Sequence[str], shape: Sequence[int]) -> str:
    inside = ", ".join(f"{n}={s}" if n.isidentifier() else str(s) for n, s in zip(names, shape, strict=True))
    # Write (3,) as in Python, but (n=3) without a comma.
    return f"({inside},)" if len(shape) == 1 and "=" not in inside else f"({inside})"


def _unroll(names: Sequence[str], leading: int) -> list[str]:
    """Replace ``*batch`` with one name per leading dimension: ``batch`` for one, empty names for several."""
    unrolled: list[str] = []
    for name in names:
        if name.startswith("*"):
            unrolled += [name.strip("*#")] if leading == 1 else [""] * leading
        else:
            unrolled.append(name.strip("#{}"))
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
