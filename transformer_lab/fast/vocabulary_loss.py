"""The last linear layer and the loss in one: the gradients are made on the way forward."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

CHUNK = 2**21
"""Number of logits that exist at one time."""


def vocabulary_loss(
    x: Float[Tensor, "n_rows d_model"],
    weight: Float[Tensor, "vocab_size d_model"],
    bias: Float[Tensor, " vocab_size"] | None,
    targets: Int[Tensor, " n"],
    smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Return the sum of the smoothed cross-entropies of ``F.linear(x, weight, bias)``.

    The gradient at the logits, ``softmax(logits) − (1 − ε) onehot(target) − ε / vocab_size``, is known as soon as the
    logits are. So it takes their place, a few rows at a time, and is multiplied on at once: neither logits nor their
    softmax nor their gradient ever exist for all rows. A mean over tokens divides the result; the gradients are scaled
    by what comes back.

    Under autocast the products are in half precision, and all else as it is.

    Args:
        x: Outputs of the last layer, at real tokens. There may be more rows than targets: the last of them count for
            nothing.
        weight: Weights of the last linear layer.
        bias: Its bias.
        targets: The tokens that really follow.
        smoothing: ε.
    """
    gradients = torch.is_grad_enabled()
    return _VocabularyLoss.apply(x, weight, bias, targets, smoothing, gradients)  # type: ignore[no-untyped-call]


class _VocabularyLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        smoothing: float,
        with_gradients: bool,
    ) -> Tensor:
        vocab_size, n_rows = len(weight), max(1, CHUNK // len(weight))
        low = product_dtype(weight)
        low_weight, low_bias = weight.to(low), None if bias is None else bias.to(low)
        total, d_x, d_weight = x.new_zeros(()), torch.empty_like(x), torch.zeros_like(weight)
        d_bias = None if bias is None else torch.zeros_like(bias)
        for start in range(0, len(x), n_rows):
            rows, target = x[start : start + n_rows], targets[start : start + n_rows, None]
            rows = rows.to(low)
            all_logits = F.linear(rows, low_weight, low_bias).to(x.dtype)
            logits = all_logits[: len(target)]
            largest = logits.amax(dim=1)
            total -= (1 - smoothing) * logits.gather(1, target).sum() + smoothing / vocab_size * logits.sum()
            softmax = torch.softmax(logits, dim=1, out=logits)
            total += (largest - softmax.amax(dim=1).log()).sum()  # log Σ exp(logits), without another exp
            if with_gradients:
                softmax.sub_(smoothing / vocab_size)
                softmax.scatter_add_(1, target, softmax.new_full(target.shape, smoothing - 1))
                gradient = all_logits
                gradient[len(target) :] = 0
                if d_bias is not None:
                    d_bias += gradient.sum(0)
                gradient = gradient.to(low)
                d_x[start : start + n_rows] = gradient @ low_weight
                if low == weight.dtype:
                    d_weight.addmm_(gradient.mT, rows)
                else:
                    d_weight += gradient.mT @ rows  # what is in half precision is added up in full
        if with_gradients:
            ctx.save_for_backward(d_x, d_weight, d_bias)
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        d_x, d_weight, d_bias = ctx.saved_tensors
        return d_x.mul_(scale), d_weight.mul_(scale), None if d_bias is None else d_bias.mul_(scale), None, None, None


def product_dtype(x: Tensor) -> torch.dtype:
    """Return the precision in which a tensor is multiplied: autocast's, or its own."""
    kind = x.device.type
    lowered = x.dtype == torch.float32 and torch.is_autocast_enabled(kind)
    return torch.get_autocast_dtype(kind) if lowered else x.dtype
