"""Packed rows: the vectors of a batch's real tokens, one below the other, without those of padding.

All that works at each position by itself, which is all of a model but attention, takes them for one long sentence.
"""

from functools import cached_property
from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable


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
    tensor([[[1.],
             [2.],
             [3.]]])
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
        self.positions = self.index[None] % real.shape[1]
        self._of_heads: dict[tuple[int, int], tuple[Tensor, Tensor]] = {}

    @cached_property
    def lengths(self) -> list[int]:
        """Numbers of real tokens of the sentences; to read them waits for a GPU, on which nothing asks for them."""
        lengths: list[int] = self.real.sum(1).tolist()
        return lengths

    def of(self, tokens: Int[Tensor, "batch n"]) -> Int[Tensor, "1 n_rows"]:
        """Return the token of each row, or what else there is a number of for each position."""
        return tokens.flatten()[self.index][None]

    def pack(self, x: Float[Tensor, "batch n d"]) -> Float[Tensor, "1 n_rows d"]:
        """Return the vectors of the rows."""
        flat = x.reshape(-1, x.shape[-1])
        return (flat if self.is_full else _Pick.apply(flat, self.index))[None]  # type: ignore[no-untyped-call]

    def unpack(self, x: Float[Tensor, "1 n_rows d"]) -> Float[Tensor, "batch n d"]:
        """Return the batch with zeros where there is no row."""
        if not self.is_full:
            x = _Place.apply(x[0], self.index, self.shape.numel())  # type: ignore[no-untyped-call]
        return x.view(*self.shape, x.shape[-1])

    def heads(
        self, x: Float[Tensor, "n_rows d"], n_heads: int, n_parts: int, apart: bool
    ) -> list[Float[Tensor, "n_parts n_all_heads _ d_k"]]:
        """Return what is side by side in each row, as so many parts of so many heads: of all sentences, or of each."""
        d_k = x.shape[1] // (n_parts * n_heads)
        if apart:
            sentences = x[: self.n_real].view(-1, n_parts, n_heads, d_k).permute(1, 2, 0, 3)
            return list(torch.split(sentences, self.lengths, dim=2))
        index, _ = self._index_of_heads(n_heads, n_parts)
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
            _, index = self._index_of_heads(n_heads, n_parts)
            merged = pieces[0].view(-1, d_k).index_select(0, index)
        return merged.view(len(self.index), -1)

    def _index_of_heads(self, n_heads: int, n_parts: int) -> tuple[Tensor, Tensor]:
        """Return which vectors of d_k numbers ``heads`` takes from the rows, and which ``merge_heads`` takes back.

        In the places of padding are those of the last row before them.
        """
        if (n_heads, n_parts) not in self._of_heads:
            parts = torch.arange(n_parts * n_heads, device=self.index.device).view(n_parts, 1, n_heads, 1)
            row = self.real.flatten().cumsum(0).sub_(1).view(1, -1, 1, self.shape[1])
            taken = (row * n_parts * n_heads + parts).flatten()
            vectors = torch.arange(len(taken), device=self.index.device).view(n_parts, -1, n_heads, self.shape[1])
            back = vectors.permute(1, 3, 0, 2).flatten(0, 1).index_select(0, self.index).flatten()
            self._of_heads[n_heads, n_parts] = taken, back
        return self._of_heads[n_heads, n_parts]


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
