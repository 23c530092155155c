"""Reference implementations of attention and layers that compute one number at a time in plain loops."""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn


def dot(a: Tensor, b: Tensor) -> float:
    return sum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))


def scaled_dot(q: Tensor, k: Tensor) -> float:
    return dot(q, k) / math.sqrt(len(k))


def by_loops(
    score: Callable[[Tensor, Tensor], float], q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Compute attention with loops. Each query averages the values it may attend to, with weights exp(score)."""
    output = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=torch.float64)
    for *batch, i in np.ndindex(q.shape[:-1]):
        at = tuple(batch)
        allowed = [j for j in range(k.shape[-2]) if mask is None or mask[(*at, i, j)]]
        exponentials = [math.exp(score(q[(*at, i)], k[(*at, j)])) for j in allowed]
        for j, exponential in zip(allowed, exponentials, strict=True):
            output[(*at, i)] += exponential / sum(exponentials) * v[(*at, j)]
    return output


def heads_by_loops(attention: nn.Module, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
    """Compute each head separately from its rows of the projection matrices, and concatenate the heads."""
    d_k = attention.w_q.out_features // attention.n_heads
    group = attention.w_q.out_features // attention.w_k.out_features
    heads = []
    for head in range(attention.n_heads):
        own = slice(head * d_k, (head + 1) * d_k)
        shared = slice(head // group * d_k, (head // group + 1) * d_k)
        projected = [
            x @ w.weight[rows].T + (0 if w.bias is None else w.bias[rows])
            for x, w, rows in [
                (query, attention.w_q, own),
                (key, attention.w_k, shared),
                (value, attention.w_v, shared),
            ]
        ]
        allowed = (
            None if mask is None else mask.expand(len(query), attention.n_heads, query.shape[1], key.shape[1])[:, head]
        )
        heads.append(by_loops(scaled_dot, *projected, allowed))
    concatenated = torch.cat(heads, dim=-1)
    output = concatenated @ attention.w_o.weight.T
    return output if attention.w_o.bias is None else output + attention.w_o.bias


def norm_by_loops(norm: nn.LayerNorm, x: Tensor) -> Tensor:
    """Apply layer norm to each position separately, one number at a time."""
    output = torch.empty_like(x)
    for at in np.ndindex(x.shape[:-1]):
        features = x[at].tolist()
        mean = sum(features) / len(features)
        variance = sum((feature - mean) ** 2 for feature in features) / len(features)
        for i, feature in enumerate(features):
            output[(*at, i)] = (feature - mean) / math.sqrt(variance + norm.eps) * norm.weight[i] + norm.bias[i]
    return output


def feed_forward_by_loops(feed_forward: nn.Module, x: Tensor) -> Tensor:
    """Apply two linear layers with a ReLU in between to each position separately."""
    output = torch.empty_like(x)
    w_1, w_2 = feed_forward.w_1, feed_forward.w_2
    for at in np.ndindex(x.shape[:-1]):
        middle = [max(0.0, dot(row, x[at]) + b) for row, b in zip(w_1.weight, w_1.bias.tolist(), strict=True)]
        wide = torch.tensor(middle, dtype=x.dtype)
        for i, row in enumerate(w_2.weight):
            output[(*at, i)] = dot(row, wide) + w_2.bias[i]
    return output


def encoder_layer_by_loops(layer: nn.Module, x: Tensor, mask: Tensor) -> Tensor:
    x = norm_by_loops(layer.norm_1, x + heads_by_loops(layer.self_attention, x, x, x, mask))
    return norm_by_loops(layer.norm_2, x + feed_forward_by_loops(layer.feed_forward, x))


def pre_norm_encoder_layer_by_loops(layer: nn.Module, x: Tensor, mask: Tensor) -> Tensor:
    normed = norm_by_loops(layer.norm_1, x)
    x = x + heads_by_loops(layer.self_attention, normed, normed, normed, mask)
    return x + feed_forward_by_loops(layer.feed_forward, norm_by_loops(layer.norm_2, x))


def decoder_layer_by_loops(layer: nn.Module, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor) -> Tensor:
    x = norm_by_loops(layer.norm_1, x + heads_by_loops(layer.self_attention, x, x, x, mask))
    x = norm_by_loops(layer.norm_2, x + heads_by_loops(layer.cross_attention, x, memory, memory, memory_mask))
    return norm_by_loops(layer.norm_3, x + feed_forward_by_loops(layer.feed_forward, x))


def pre_norm_decoder_layer_by_loops(
    layer: nn.Module, x: Tensor, memory: Tensor, mask: Tensor, memory_mask: Tensor
) -> Tensor:
    normed = norm_by_loops(layer.norm_1, x)
    x = x + heads_by_loops(layer.self_attention, normed, normed, normed, mask)
    normed = norm_by_loops(layer.norm_2, x)
    x = x + heads_by_loops(layer.cross_attention, normed, memory, memory, memory_mask)
    return x + feed_forward_by_loops(layer.feed_forward, norm_by_loops(layer.norm_3, x))
