"""Token embeddings from the matrix that is also the last layer's: its two gradients are added up in place."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

from transformer_lab.fast.gradients_by_hand import apply


def look_up_tied(
    weight: Float[Tensor, "vocab_size d_model"], tokens: Int[Tensor, " n_rows"]
) -> tuple[Float[Tensor, "n_rows d_model"], Float[Tensor, "vocab_size d_model"]]:
    """Return the embeddings of tokens, and the matrix again, for the last layer.

    The gradient of the last layer is of the whole matrix. It is computed first, and the gradients of the embeddings are
    added to it in place. Autograd by itself would add up two matrices, or copy the sum.

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
