"""Look inside a model without touching it: the attention weights of every head, the shapes of every module."""

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
    """Collect the weights of every attention that runs inside the ``with`` block, by the module's name.

    The model computes what it always does, only through the kernels that keep the weights. Outside the block nothing
    is kept, and nothing costs anything. Of several passes the last is kept.

    Modules of other makes are seen as well if they are built as ``MultiHeadAttention`` is, with ``w_q``, ``w_k``,
    ``w_v``, ``w_o`` and ``n_heads``, and called as it is. Theirs are worked out anew from what they are given.

    >>> from transformer_lab.attention.multi_head import MultiHeadAttention
    >>> model = nn.ModuleDict({"attention": MultiHeadAttention(d_model=8, n_heads=2)})
    >>> x = torch.randn(3, 5, 8)
    >>> with record_attention(model) as weights:
    ...     _ = model["attention"](x, x, x)
    >>> weights["attention"].shape  # (batch, n_heads, n_query, n_key)
    torch.Size([3, 2, 5, 5])
    """
    weights: dict[str, Tensor] = {}
    attentions = {name: module for name, module in model.named_modules() if isinstance(module, AttentionBase)}
    before = {name: attention.weights_hook for name, attention in attentions.items()}

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
            attention.weights_hook = partial(listen, name)
            afterwards.callback(setattr, attention, "weights_hook", before[name])
        yield weights


def _is_built_as_ours(module: nn.Module) -> bool:
    """Tell another make of ``MultiHeadAttention``, such as a learner's, by what it is made of."""
    made_of = {"w_q", "w_k", "w_v", "w_o", "n_heads"}
    return not isinstance(module, AttentionBase) and all(hasattr(module, name) for name in made_of)
