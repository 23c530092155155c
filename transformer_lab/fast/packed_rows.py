"""Packed rows: the vectors of a batch's real tokens, one below the other, without those of padding.

All that works at each position by itself, which is all of a model but attention, takes them for one long sentence.
"""

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
        self.shape = real.shape
        if not can_be_packed(real):
            raise ValueError("only sentences with padding at their end, and with a token before it, can be packed")
        self.index = real.flatten().nonzero()[:, 0]
        self.n_real = len(self.index)
        n_more = -self.n_real % multiple
        if self.n_real + n_more < real.numel():
            self.index = torch.cat([self.index, (~real).flatten().nonzero()[:n_more, 0]])
        self.is_full = len(self.index) == real.numel()
        self.positions = self.index[None] % real.shape[1]

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
