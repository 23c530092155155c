"""Attention one number at a time: what everything faster is compared with."""

import math
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor


def dot(a: Tensor, b: Tensor) -> float:
    return sum(x * y for x, y in zip(a.tolist(), b.tolist(), strict=True))


def scaled_dot(q: Tensor, k: Tensor) -> float:
    return dot(q, k) / math.sqrt(len(k))


def by_loops(
    score: Callable[[Tensor, Tensor], float], q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None
) -> Tensor:
    """Mix the values that each query may see, each by the exponential of its score."""
    output = torch.zeros(*q.shape[:-1], v.shape[-1], dtype=torch.float64)
    for *batch, i in np.ndindex(q.shape[:-1]):
        at = tuple(batch)
        seen = [j for j in range(k.shape[-2]) if mask is None or mask[(*at, i, j)]]
        loudness = [math.exp(score(q[(*at, i)], k[(*at, j)])) for j in seen]
        for j, loud in zip(seen, loudness, strict=True):
            output[(*at, i)] += loud / sum(loudness) * v[(*at, j)]
    return output
