"""Packed rows: the vectors of a batch's real tokens, one below the other, without those of padding.

All that works at each position by itself, which is all of a model but attention, takes them for one long sentence.
"""

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar, cast

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

Made = TypeVar("Made")


class PackedRows:
    """Where the real tokens of a batch are, whose sentences are padded at the end.

    Args:
        real: True at real tokens.
        multiple: Some positions of padding are taken for real, if there are enough, so that the number of rows is a
            multiple of this; they come last.

    Raises:
        ValueError: There is padding before a real token, or a sentence without one.

    >>> rows = PackedRows(torch.tensor([[True, True], [True, False]]))
    >>> rows.pack(torch.tensor([[[1.0], [2.0]], [[3.0], [4.0]]]))
    tensor([[1.],
            [2.],
            [3.]])
    """

    def __init__(self, real: Bool[Tensor, "batch n"], multiple: int = 1) -> None:
        self.shape, self.real = real.shape, real
        if not can_be_packed(real):
            raise ValueError("only sentences with padding at their end, and with a token before it, can be packed")
        self.index = real.flatten().nonzero()[:, 0]
        self.n_real = len(self.index)
        n_more = -self.n_real % multiple
        if self.n_real + n_more < real.numel():
            self.index = torch.cat([self.index, (~real).flatten().nonzero()[:n_more, 0]])
        self.is_full = len(self.index) == real.numel()
        self.positions = self.index % real.shape[1]
        self._made: dict[Hashable, Any] = {}

    @cached_property
    def lengths(self) -> list[int]:
        """Numbers of real tokens of the sentences; to read them waits for a GPU, on which nothing asks for them."""
        lengths: list[int] = self.real.sum(1).tolist()
        return lengths

    def of(self, tokens: Int[Tensor, "batch n"]) -> Int[Tensor, " n_rows"]:
        """Return the token of each row, or what else there is a number of for each position."""
        return tokens.flatten()[self.index]

    def pack(self, x: Float[Tensor, "batch n d"]) -> Float[Tensor, "n_rows d"]:
        """Return the vectors of the rows."""
        flat = x.reshape(-1, x.shape[-1])
        return flat if self.is_full else _Pick.apply(flat, self.index)  # type: ignore[no-untyped-call]

    def unpack(self, x: Float[Tensor, "n_rows d"]) -> Float[Tensor, "batch n d"]:
        """Return the batch with zeros where there is no row."""
        if not self.is_full:
            x = _Place.apply(x, self.index, self.shape.numel())  # type: ignore[no-untyped-call]
        return x.view(*self.shape, x.shape[-1])

    def heads(
        self, x: Float[Tensor, "n_rows d"], n_heads: int, n_parts: int, apart: bool
    ) -> list[Float[Tensor, "n_parts n_all_heads _ d_k"]]:
        """Return what is side by side in each row, as so many parts of so many heads: of all sentences, or of each."""
        d_k = x.shape[1] // (n_parts * n_heads)
        if apart:
            sentences = x[: self.n_real].view(-1, n_parts, n_heads, d_k).permute(1, 2, 0, 3)
            return list(torch.split(sentences, self.lengths, dim=2))
        index, _ = self.once(index_of_heads, n_heads, n_parts)
        return [x.reshape(-1, d_k).index_select(0, index).view(n_parts, -1, self.shape[1], d_k)]

    def merge_heads(
        self, pieces: list[Float[Tensor, "n_parts n_all_heads _ d_k"]], n_heads: int, apart: bool
    ) -> Float[Tensor, "n_rows d"]:
        """Return the rows again."""
        n_parts, _, _, d_k = pieces[0].shape
        if apart:
            merged = pieces[0].new_empty(len(self.index), n_parts, n_heads, d_k)
            merged[self.n_real :] = 0
            for rows, piece in zip(torch.split(merged[: self.n_real], self.lengths), pieces, strict=True):
                rows.copy_(piece.permute(2, 0, 1, 3))
        else:
            _, index = self.once(index_of_heads, n_heads, n_parts)
            merged = pieces[0].view(-1, d_k).index_select(0, index)
        return merged.view(len(self.index), -1)

    def once(self, make: Callable[..., Made], *arguments: Hashable) -> Made:
        """Return what a function makes of these rows, made once for all layers."""
        key = make, *arguments
        if key not in self._made:
            self._made[key] = make(self, *arguments)
        return cast("Made", self._made[key])


def index_of_heads(rows: PackedRows, n_heads: int, n_parts: int) -> tuple[Int[Tensor, " _"], Int[Tensor, " _"]]:
    """Return which vectors of d_k numbers ``heads`` takes from the rows, and which ``merge_heads`` takes back.

    In the places of padding are those of the last row before them.
    """
    (batch, n), device = rows.shape, rows.index.device
    heads, parts = torch.arange(n_heads, device=device), torch.arange(n_parts, device=device)[:, None]
    row = rows.real.flatten().cumsum(0).sub_(1).view(batch, 1, n)
    taken = (row * n_parts + parts[:, :, None, None]) * n_heads + heads[:, None]
    first = rows.index // n * (n_heads * n) + rows.positions  # of the first head of the first part
    back = first[:, None, None] + parts * (batch * n_heads * n) + heads * n
    return taken.flatten(), back.flatten()


def real_of_heads(rows: PackedRows, n_heads: int, dtype: torch.dtype) -> Float[Tensor, "n_all_heads n 1"]:
    """Return 1 at real tokens and 0 at padding, in the order of ``heads``."""
    return rows.real[:, None, :, None].expand(-1, n_heads, -1, -1).reshape(-1, rows.shape[1], 1).to(dtype)


def can_be_packed(real: Bool[Tensor, "batch n"]) -> bool:
    """Return whether every sentence begins with a real token, and padding comes at its end only."""
    return bool(real[:, 0].all() & (real[:, 1:] <= real[:, :-1]).all())


class _Pick(torch.autograd.Function):
    """Pick rows, none twice: torch's own gradient adds them up one by one, as if one might have been picked twice."""

    @staticmethod
    def forward(ctx: Any, x: Float[Tensor, "n d"], index: Int[Tensor, " n_rows"]) -> Float[Tensor, "n_rows d"]:
        ctx.save_for_backward(index)
        ctx.n_before = len(x)
        return x.index_select(0, index)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Float[Tensor, "n_rows d"]) -> tuple[Float[Tensor, "n d"], None]:
        return gradient.new_zeros(ctx.n_before, gradient.shape[1]).index_copy_(0, ctx.saved_tensors[0], gradient), None


class _Place(torch.autograd.Function):
    """Put rows into a larger matrix of zeros."""

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
