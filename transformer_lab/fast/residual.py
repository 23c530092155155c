"""The residual connection in one pass over the features: dropout, the sum, and the norm after it."""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from transformer_lab.fast.bypass import call, may_bypass
from transformer_lab.fast.dropout import draws_mask, dropout, keep_mask
from transformer_lab.fast.gradients_by_hand import apply


def add(
    x: Float[Tensor, "n_rows d"], module: nn.Module, output: Float[Tensor, "n_rows d"]
) -> Float[Tensor, "n_rows d"]:
    """Return ``x + dropout(output)``.

    Args:
        x: The input of a sublayer.
        module: Its dropout module, which is called where ``dropout`` calls it.
        output: The output of the sublayer.
    """
    if not draws_mask(module, output) or x.dtype != output.dtype:
        return x + dropout(module, output)
    total: Tensor = apply(_Add, x, output, keep_mask(module, output))
    return total


def add_and_normalise(
    x: Float[Tensor, "n_rows d"], module: nn.Module, output: Float[Tensor, "n_rows d"], norm: nn.Module
) -> Float[Tensor, "n_rows d"]:
    """Return ``norm(x + dropout(output))``; a norm of another class than torch's ``nn.LayerNorm`` is called."""
    if not may_bypass(norm, nn.LayerNorm) or torch.is_autocast_enabled(x.device.type):
        return call(norm, add(x, module, output))
    keep = None
    if draws_mask(module, output):
        keep = keep_mask(module, output)
    else:
        output = dropout(module, output)
    normalised: Tensor = apply(_AddAndNormalise, x, output, keep, norm.weight, norm.bias, norm.eps)
    return normalised


class _Add(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, output: Tensor, keep: Tensor) -> Tensor:
        ctx.save_for_backward(keep)
        return torch.addcmul(x, output, keep)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, Tensor, None]:
        return gradient, gradient * ctx.saved_tensors[0], None


class _AddAndNormalise(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, output: Tensor, keep: Tensor | None, weight: Tensor | None, bias: Tensor | None, eps: float
    ) -> Tensor:
        total = x + output if keep is None else torch.addcmul(x, output, keep)
        normalised, mean, scale = torch.native_layer_norm(total, total.shape[-1:], weight, bias, eps)
        ctx.save_for_backward(total, mean, scale, weight, bias, keep)
        return normalised

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        total, mean, scale, weight, bias, keep = ctx.saved_tensors
        needs = True, ctx.needs_input_grad[3], ctx.needs_input_grad[4]
        d_total, d_weight, d_bias = torch.ops.aten.native_layer_norm_backward(
            gradient, total, total.shape[-1:], mean, scale, weight, bias, needs
        )
        return d_total, d_total if keep is None else d_total * keep, None, d_weight, d_bias, None
