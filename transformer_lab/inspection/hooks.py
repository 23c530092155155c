"""Record the attention weights of a running model without changing it."""

import inspect
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from torch import Tensor, nn

from transformer_lab.attention.dot_product import scaled_dot_product_attention
from transformer_lab.attention.multi_head import AttentionBase, split_heads


@contextmanager
def record_attention(model: nn.Module) -> Iterator[dict[str, Tensor]]:
    """Record the weights of every attention module that runs inside the ``with`` block, keyed by module name.

    Recording does not change the model's result. Outside the block, nothing is recorded and there is no overhead. If
    the model runs several times, the last pass is recorded. In a beam search, cross-attention treats all beams of a
    source as queries of one row, so its weights have the shape (n_sources, n_heads, n_beams · n_query, n_key).

    A module of another class is recorded if it has the attributes of ``MultiHeadAttention`` (``w_q``, ``w_k``, ``w_v``,
    ``w_o`` and ``n_heads``) and the same signature. Its weights are recomputed from its inputs.

    >>> import torch
    >>> from transformer_lab.attention.multi_head import MultiHeadAttention
    >>> model = nn.ModuleDict({"attention": MultiHeadAttention(d_model=8, n_heads=2)})
    >>> x = torch.randn(3, 5, 8)
    >>> with record_attention(model) as weights:
    ...     _ = model["attention"](x, x, x)
    >>> weights["attention"].shape  # (batch, n_heads, n_query, n_key)
    torch.Size([3, 2, 5, 5])
    """
    weights: dict[str, Tensor] = {}

    def recompute(name: str, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        bound = inspect.signature(module.forward).bind(*args, **kwargs)
        bound.apply_defaults()
        query, key, _, mask = list(bound.arguments.values())[:4]
        q, k = split_heads(module.w_q(query), module.n_heads), split_heads(module.w_k(key), module.n_heads)
        _, weights[name] = scaled_dot_product_attention(q, k, k, mask)

    with ExitStack() as afterwards:
        for name, module in getattr(model, "_orig_mod", model).named_modules():  # unwrap a compiled model
            if isinstance(module, AttentionBase):
                record = partial(weights.__setitem__, name)
                module.weights_hooks.append(record)
                afterwards.callback(module.weights_hooks.remove, record)
            elif _has_attention_parts(module):
                hook = module.register_forward_pre_hook(partial(recompute, name), with_kwargs=True)
                afterwards.callback(hook.remove)
        yield weights


def _has_attention_parts(module: nn.Module) -> bool:
    parts = ("w_q", "w_k", "w_v", "w_o", "n_heads")
    return all(hasattr(module, name) for name in parts)
