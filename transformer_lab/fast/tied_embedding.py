"""Looking up tokens in the matrix that is also the last layer's, so that its gradients are added up in place."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from transformer_lab.fast.gradients_by_hand import apply


def look_up_tied(
    weight: Float[Tensor, "vocab_size d_model"], tokens: Int[Tensor, " n_rows"]
) -> tuple[Float[Tensor, "n_rows d_model"], Float[Tensor, "vocab_size d_model"]]:
    """Return the rows of a matrix, and the matrix, for whatever else it is needed for.

    The gradient of that other use, the last layer, is of all rows. It comes back first, and the gradients of the rows
    that were looked up are added to it. Autograd by itself would add up matrices, or copy the sum.

    Raises:
        IndexError: A token is not in the vocabulary.
    """
    rows, matrix = apply(_LookUp, weight, tokens)
    return rows, matrix


class _LookUp(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, tokens: Tensor) -> tuple[Tensor, Tensor]:
        ctx.save_for_backward(tokens)
        ctx.set_materialize_grads(False)
        ctx.shape = weight.shape
        return weight.index_select(0, tokens), weight.view_as(weight)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_rows: Tensor | None, d_weight: Tensor | None) -> tuple[Tensor | None, None]:
        if d_rows is not None:
            if d_weight is None:
                d_weight = d_rows.new_zeros(ctx.shape)
            d_weight.index_add_(0, ctx.saved_tensors[0], d_rows)
        return d_weight, None
