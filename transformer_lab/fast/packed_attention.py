"""Attention of packed rows: the queries of a sentence attend to its keys, and nothing is multiplied for padding.

Torch's kernel is made for long sentences, of which it never holds all weights. Up to ``LONGEST`` tokens, the formula
takes half to four fifths of its time, if the gradients are written by hand, and padding is left out.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from transformer_lab.fast.gradients_by_hand import apply
from transformer_lab.fast.packed_rows import PackedRows, real_of_heads

LONGEST = 128
"""Number of tokens up to which the formula is used: the weights of more would take too much memory."""
TOGETHER = 48
"""Number of tokens up to which sentences go together, padded: to take each by itself costs more than its padding."""


def attend_rows(
    queries: Float[Tensor, "n_rows d_in"],
    rows: PackedRows,
    keys: Float[Tensor, "n_key_rows d_in_2"] | None,
    key_rows: PackedRows,
    n_heads: int,
    is_causal: bool,
) -> Float[Tensor, "n_rows d_model"]:
    """Return ``softmax(q kᵀ / √d_k) v`` in all heads, within each sentence.

    Args:
        queries: The queries of each row; where each sentence attends to itself, its keys and values beside them.
        rows: Where they are.
        keys: Keys and values side by side, of other sentences; None: they are beside the queries.
        key_rows: Where keys and values are.
        n_heads: Number of heads.
        is_causal: Whether each query attends to the keys up to its own position only.
    """
    output: Tensor = apply(_Attend, queries, rows, keys, key_rows, n_heads, is_causal)
    return output


class _Attend(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        queries: Tensor,
        rows: PackedRows,
        keys: Tensor | None,
        key_rows: PackedRows,
        n_heads: int,
        is_causal: bool,
    ) -> Tensor:
        longest = max(rows.shape[1], key_rows.shape[1])
        apart = longest > TOGETHER
        if keys is None:
            triples = [tuple(piece) for piece in rows.heads(queries, n_heads, 3, apart)]
        else:
            pieces = zip(rows.heads(queries, n_heads, 1, apart), key_rows.heads(keys, n_heads, 2, apart), strict=True)
            triples = [(*q, *kv) for q, kv in pieces]
        hidden = key_rows.once(_hidden, n_heads, is_causal, apart, queries.dtype)
        outputs, kept = [], []
        for q, k, v in triples:
            mask = hidden[..., : q.shape[1], : k.shape[1]] if hidden.dim() else hidden
            weights = torch.baddbmm(mask, q, k.mT, beta=mask.dim() and 1, alpha=q.shape[-1] ** -0.5)
            torch.softmax(weights, dim=-1, out=weights)
            outputs.append(torch.bmm(weights, v)[None])
            kept += [q, k, v, weights]
        ctx.save_for_backward(*kept)
        ctx.layout = rows, key_rows, n_heads, apart, keys is None
        return rows.merge_heads(outputs, n_heads, apart)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        rows, key_rows, n_heads, apart, is_self = ctx.layout
        pieces = []
        for (d_output,), (q, k, v, weights) in zip(
            rows.heads(gradient, n_heads, 1, apart), zip(*[iter(ctx.saved_tensors)] * 4, strict=True), strict=True
        ):
            if not (apart or rows.is_full):
                d_output.mul_(rows.once(real_of_heads, n_heads, d_output.dtype))
            if is_self:
                d_q, d_k, d_v = d_qkv = q.new_empty(3, *q.shape)
                pieces.append((d_qkv, d_qkv))
            else:
                [d_q], (d_k, d_v) = d_pair = q.new_empty(1, *q.shape), k.new_empty(2, *k.shape)
                pieces.append(d_pair)
            d_scores = torch.ops.aten._softmax_backward_data(torch.bmm(d_output, v.mT), weights, -1, weights.dtype)
            d_q.baddbmm_(d_scores, k, beta=0, alpha=q.shape[-1] ** -0.5)
            d_k.baddbmm_(d_scores.mT, q, beta=0, alpha=q.shape[-1] ** -0.5)
            torch.bmm(weights.mT, d_output, out=d_v)
        d_queries = rows.merge_heads([d_q for d_q, _ in pieces], n_heads, apart)
        if is_self:
            return d_queries, *[None] * 5
        d_keys = key_rows.merge_heads([d_kv for _, d_kv in pieces], n_heads, apart)
        return d_queries, None, d_keys, None, None, None


def _hidden(key_rows: PackedRows, n_heads: int, is_causal: bool, apart: bool, dtype: torch.dtype) -> Tensor:
    """Return what is added to scores."""
    n = key_rows.shape[1]
    if is_causal:
        return torch.full((n, n), -torch.inf, dtype=dtype).triu(1)
    if apart or key_rows.is_full:
        return torch.zeros((), dtype=dtype)
    hidden = torch.where(key_rows.real, 0.0, -torch.inf).to(dtype)
    return hidden[:, None].expand(-1, n_heads, -1).reshape(-1, 1, n)
