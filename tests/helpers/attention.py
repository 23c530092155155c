"""Helpers for attention tests: attention outputs, random masks, and sizes."""

from typing import Any

import torch
from torch import Tensor

from transformer_lab.attention.dot_product import scaled_dot_product_attention

BATCH, N_QUERY, N_KEY, D_MODEL, N_HEADS = 2, 5, 7, 15, 3
"""Sizes of multi-head attention."""


def mix(*inputs: Tensor | None, **options: Any) -> Tensor:
    """Return only the output of scaled dot-product attention, without the weights."""
    return scaled_dot_product_attention(*inputs, **options)[0]


def draw_mask(*leading: int, n_key: int = N_KEY, n_query: int = N_QUERY) -> Tensor:
    """Draw a random mask in which every query may attend at least to the first key."""
    mask = torch.rand(*leading, n_query, n_key) < 0.6
    mask[..., 0] = True
    return mask
