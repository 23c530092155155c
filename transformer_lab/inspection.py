"""Look inside a model without touching it: the attention weights of every head, the shapes of every module."""

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

import pandas as pd
import torch
from torch import Tensor, nn

from transformer_lab.dot_product import scaled_dot_product_attention
from transformer_lab.multi_head import ObservableAttention, split_heads


@contextmanager
def record_attention(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Collect the weights of every attention that runs inside the ``with`` block, by the module's name.

    The model computes what it always does, only through the kernels that keep the weights. Outside the block nothing
    is kept, and nothing costs anything. Of several passes the last is kept.

    Modules of other makes are seen as well if they are built as ``MultiHeadAttention`` is, with ``w_q``, ``w_k``,
    ``w_v``, ``w_o`` and ``n_heads``, and called as it is. Theirs are worked out anew from what they are given.

    >>> from transformer_lab.multi_head import MultiHeadAttention
    >>> model = nn.ModuleDict({"attention": MultiHeadAttention(d_model=8, n_heads=2)})
    >>> x = torch.randn(3, 5, 8)
    >>> with record_attention(model) as weights:
    ...     _ = model["attention"](x, x, x)
    >>> weights["attention"].shape  # (batch, n_heads, n_query, n_key)
    torch.Size([3, 2, 5, 5])
    """
    weights: dict[str, Tensor] = {}
    attentions = {name: module for name, module in model.named_modules() if isinstance(module, ObservableAttention)}
    before = {name: attention.on_weights for name, attention in attentions.items()}

    def listen(name: str, new: Tensor) -> None:
        weights[name] = new
        if (earlier := before[name]) is not None:  # a ``with`` block around this one wants them, too
            earlier(new)

    def work_out(name: str, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        given = inspect.signature(module.forward).bind(*args, **kwargs)
        given.apply_defaults()
        query, key, _, mask = list(given.arguments.values())[:4]
        q, k = split_heads(module.w_q(query), module.n_heads), split_heads(module.w_k(key), module.n_heads)
        _, weights[name] = scaled_dot_product_attention(q, k, k, mask)

    with ExitStack() as afterwards:
        for name, module in model.named_modules():
            if _is_built_as_ours(module):
                hook = module.register_forward_pre_hook(partial(work_out, name), with_kwargs=True)
                afterwards.callback(hook.remove)
        for name, attention in attentions.items():
            attention.on_weights = partial(listen, name)
            afterwards.callback(setattr, attention, "on_weights", before[name])
        yield weights


def _is_built_as_ours(module: nn.Module) -> bool:
    """Tell another make of ``MultiHeadAttention``, such as a learner's, by what it is made of."""
    made_of = {"w_q", "w_k", "w_v", "w_o", "n_heads"}
    return not isinstance(module, ObservableAttention) and all(hasattr(module, name) for name in made_of)


def trace_shapes(model: nn.Module, *inputs: Any, **keywords: Any) -> pd.DataFrame:
    """Run a model, and list what came into and went out of each module, in the order in which they began.

    Args:
        model: Any model. It is run as it stands, without gradients.
        *inputs: What to call it with.
        **keywords: What to call it with, by name.

    Returns:
        A row for each call of a module: its name, its class, the shapes of its tensors, and how many parameters it
        holds, those of its own modules included.

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
    for name, module in model.named_modules():
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
    """Write the shapes of all tensors in a value, those in lists, tuples and dicts included."""
    if isinstance(values, Tensor):
        return str(tuple(values.shape))
    if isinstance(values, dict):
        values = list(values.values())
    if isinstance(values, list | tuple):
        return ", ".join(filter(None, map(_shapes, values)))
    return ""
