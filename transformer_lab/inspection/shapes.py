"""A table of the shapes of all inputs and outputs inside a model."""

from functools import partial
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn


def trace_shapes(model: nn.Module, *inputs: Any, **keywords: Any) -> pd.DataFrame:
    """Run a model and return a table of the input and output shapes of each module, in the order of the calls.

    Args:
        model: Any model. It runs without gradients, and its mode is not changed.
        *inputs: Positional arguments for the model.
        **keywords: Keyword arguments for the model.

    Returns:
        A row for each call of a module, with its name, its class, the shapes of its tensors, and its number of
        parameters including submodules. ``nn.Identity`` modules, which stand for missing parts, have no row.

    >>> print(trace_shapes(nn.Sequential(nn.Linear(3, 5)), torch.zeros(2, 3)).to_string(index=False))
    module      class input shapes output shape  parameters
           Sequential       (2, 3)       (2, 5)          20
         0     Linear       (2, 3)       (2, 5)          20
    """
    rows: list[dict[str, Any]] = []
    open_rows: list[dict[str, Any]] = []

    def begin(name: str, module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        row = {
            "module": name,
            "class": type(module).__name__,
            "input shapes": _shapes([*args, *kwargs.values()]),
            "output shape": "",
            "parameters": sum(p.numel() for p in module.parameters()),
        }
        rows.append(row)
        open_rows.append(row)

    def end(_module: nn.Module, _args: tuple[Any, ...], _kwargs: dict[str, Any], output: Any) -> None:
        open_rows.pop()["output shape"] = _shapes([output])

    handles = []
    model = getattr(model, "_orig_mod", model)  # unwrap a compiled model
    for name, module in model.named_modules():
        if isinstance(module, nn.Identity):
            continue
        handles.append(module.register_forward_pre_hook(partial(begin, name), with_kwargs=True))
        handles.append(module.register_forward_hook(end, with_kwargs=True))
    try:
        with torch.no_grad():
            model(*inputs, **keywords)
    finally:
        for handle in handles:
            handle.remove()
    return pd.DataFrame(rows, columns=["module", "class", "input shapes", "output shape", "parameters"])


def _shapes(values: Any) -> str:
    """Return the shapes of all tensors in a value, including those inside lists, tuples and dicts."""
    if isinstance(values, Tensor):
        return str(tuple(values.shape))
    if isinstance(values, dict):
        values = list(values.values())
    if isinstance(values, list | tuple):
        return ", ".join(filter(None, map(_shapes, values)))
    return ""
