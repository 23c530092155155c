"""Packed rows: the vectors of a batch's real tokens as rows of one matrix, without padding.

Every part of a model except attention treats each position separately, so it can process the rows as one long sentence.
"""

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

Value = TypeVar("Value")


class PackedRows:
    """The positions of the real tokens in a batch whose sentences are padded at the end.

    Args:
        real: True at real tokens.
        multiple: If there is enough padding, add padding positions until this number divides the number of rows.

    Raises:
        ValueError: There is padding before a real token, or a sentence has no real token.

    >>> rows = PackedRows(torch.tensor([[True, True], [True, False]]))
    >>> rows.pack(torch.tensor([[[1.0], [2.0]], [[3.0], [4.0]]]))
    tensor([[1.],
            [2.],
            [3.]])
    """

    def __init__(self, real: Bool[Tensor, "batch n"], multiple: int = 1) -> None:
        self.shape, self.real = real.shape, real
        if not can_be_packed(real):
            raise ValueError("packing requires every sentence to begin with a real token, with padding only at its end")
        self.index = real.flatten().nonzero()[:, 0]  # (n_real,)
        self.n_real = len(self.index)
        n_more = -self.n_real % multiple
        if self.n_real + n_more < real.numel():
            self.index = torch.cat([self.index, (~real).flatten().nonzero()[:n_more, 0]])  # (n_real + n_more,)
        self.is_full = len(self.index) == real.numel()
        self.positions = self.index % real.shape[1]
        self._cached: dict[Hashable, Any] = {}

    @cached_property
    def lengths(self) -> list[int]:
        """Number of real tokens in each sentence; reading it waits for the GPU, so only CPU code uses it."""
        return cast("list[int]", self.real.sum(1).tolist())

    def select(self, tokens: Int[Tensor, "batch n"]) -> Int[Tensor, " n_rows"]:
        """Return each row's token, or each row's element of any other tensor of shape (batch, n)."""
        return tokens.flatten()[self.index]  # (n_rows,)

    def pack(self, x: Float[Tensor, "batch n d"]) -> Float[Tensor, "n_rows d"]:
        """Return the rows of a padded batch, without padding."""
        flat = x.reshape(-1, x.shape[-1])  # (batch · n, d)
        return flat if self.is_full else _GatherRows.apply(flat, self.index)  # type: ignore[no-untyped-call]

    def unpack(self, x: Float[Tensor, "n_rows d"]) -> Float[Tensor, "batch n d"]:
        """Return the padded batch, with zeros at padding."""
        if not self.is_full:
            x = _ScatterRows.apply(x, self.index, self.shape.numel())  # type: ignore[no-untyped-call]
        return x.view(*self.shape, x.shape[-1])  # (batch, n, d)

    def split_heads(
        self, x: Float[Tensor, "n_rows d"], n_heads: int, n_parts: int, per_sentence: bool
    ) -> list[Float[Tensor, "n_parts n_all_heads _ d_k"]]:
        """Split rows into ``n_parts``, such as queries, keys and values, and split each part into heads.

        Returns:
            A tensor for each sentence, or a single padded tensor for all sentences.
        """
        d_k = x.shape[1] // (n_parts * n_heads)
        if per_sentence:
            heads = x[: self.n_real].view(-1, n_parts, n_heads, d_k)  # (n_real, n_parts, n_heads, d_k)
            return list(torch.split(heads.permute(1, 2, 0, 3), self.lengths, dim=2))  # (n_parts, n_heads, length, d_k)
        index, _ = self.cached(head_indices, n_heads, n_parts)
        vectors = x.reshape(-1, d_k).index_select(0, index)  # (n_parts · batch · n_heads · n, d_k)
        return [vectors.view(n_parts, -1, self.shape[1], d_k)]  # (n_parts, batch · n_heads, n, d_k)

    def merge_heads(
        self, pieces: list[Float[Tensor, "n_parts n_all_heads _ d_k"]], n_heads: int, per_sentence: bool
    ) -> Float[Tensor, "n_rows d"]:
        """Join the heads into rows: the inverse of ``split_heads``."""
        n_parts, _, _, d_k = pieces[0].shape
        if per_sentence:
            merged = pieces[0].new_empty(len(self.index), n_parts, n_heads, d_k)
            merged[self.n_real :] = 0
            for rows, piece in zip(torch.split(merged[: self.n_real], self.lengths), pieces, strict=True):
                rows.copy_(piece.permute(2, 0, 1, 3))  # (length, n_parts, n_heads, d_k)
        else:
            _, index = self.cached(head_indices, n_heads, n_parts)
            merged = pieces[0].view(-1, d_k).index_select(0, index)  # (n_rows · n_parts · n_heads, d_k)
        return merged.view(len(self.index), -1)  # (n_rows, n_parts · n_heads · d_k)

    def cached(self, compute: Callable[..., Value], *arguments: Hashable) -> Value:
        """Return a function's result for these rows, computing it only once for all layers."""
        key = compute, *arguments
        if key not in self._cached:
            self._cached[key] = compute(self, *arguments)
        return cast("Value", self._cached[key])


def head_indices(rows: PackedRows, n_heads: int, n_parts: int) -> tuple[Int[Tensor, " _"], Int[Tensor, " _"]]:
    """Return the indices of the vectors of width d_k that ``split_heads`` and ``merge_heads`` select.

    At padding, ``split_heads`` selects the last row before it.
    """
    (batch, n), device = rows.shape, rows.index.device
    heads, parts = torch.arange(n_heads, device=device), torch.arange(n_parts, device=device)[:, None]
    row = rows.real.flatten().cumsum(0).sub_(1).view(batch, 1, n)  # (batch, 1, n)
    split = (row * n_parts + parts[:, :, None, None]) * n_heads + heads[:, None]  # (n_parts, batch, n_heads, n)
    first = rows.index // n * (n_heads * n) + rows.positions  # index in the first head of the first part
    merge = first[:, None, None] + parts * (batch * n_heads * n) + heads * n  # (n_rows, n_parts, n_heads)
    return split.flatten(), merge.flatten()  # (n_parts · batch · n_heads · n,), (n_rows · n_parts · n_heads,)


def real_mask_of_heads(rows: PackedRows, n_heads: int, dtype: torch.dtype) -> Float[Tensor, "n_all_heads n 1"]:
    """Return 1 at real tokens and 0 at padding, in the layout of ``split_heads``."""
    mask = rows.real[:, None, :, None].expand(-1, n_heads, -1, -1)  # (batch, n_heads, n, 1)
    return mask.reshape(-1, rows.shape[1], 1).to(dtype)  # (batch · n_heads, n, 1)


def can_be_packed(real: Bool[Tensor, "batch n"]) -> bool:
    """Return whether every sentence begins with a real token and has padding only at its end."""
    return bool(real[:, 0].all() & (real[:, 1:] <= real[:, :-1]).all())


class _GatherRows(torch.autograd.Function):
    """Select distinct rows, with a faster gradient than torch's, which must allow for duplicates."""

    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n d"], index: Int[Tensor, " n_rows"]) -> Float[Tensor, "n_rows d"]:
        ctx.save_for_backward(index)
        ctx.n_before = len(x)
        return x.index_select(0, index)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Float[Tensor, "n_rows d"]) -> tuple[Float[Tensor, "n d"], None]:
        return gradient.new_zeros(ctx.n_before, gradient.shape[1]).index_copy_(0, ctx.saved_tensors[0], gradient), None


class _ScatterRows(torch.autograd.Function):
    """Copy rows into a larger matrix of zeros."""

    @staticmethod
    def forward(
        ctx: Any, x: Float[Tensor, "n_rows d"], index: Int[Tensor, " n_rows"], n_after: int
    ) -> Float[Tensor, "n d"]:
        ctx.save_for_backward(index)
        return x.new_zeros(n_after, x.shape[1]).index_copy_(0, index, x)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Float[Tensor, "n d"]) -> tuple[Float[Tensor, "n_rows d"], None, None]:
        return gradient.index_select(0, ctx.saved_tensors[0]), None, None
