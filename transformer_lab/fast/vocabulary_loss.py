"""The last linear layer and the loss in one function that computes the gradients during the forward pass."""

from typing import Any

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.autograd.function import once_differentiable

ROWS_PER_CHUNK = 256
"""Approximate number of rows of logits in memory at a time. With fewer rows, reading and writing the weights' gradient
costs more than the product added to it; with more, the logits would take more memory than the weights."""


def vocabulary_loss(
    x: Float[Tensor, "n_rows d_model"],
    weight: Float[Tensor, "vocab_size d_model"],
    bias: Float[Tensor, " vocab_size"] | None,
    targets: Int[Tensor, " n"],
    smoothing: float = 0.0,
) -> Float[Tensor, ""]:
    """Return the sum of the smoothed cross-entropies of ``F.linear(x, weight, bias)``.

    The gradient with respect to the logits is ``softmax(logits) − (1 − ε) onehot(target) − ε / vocab_size``, so it can
    be computed in the forward pass. For each chunk of rows, the gradient overwrites the logits and is immediately
    multiplied by the weights. So the logits, their softmax and their gradient never exist for all rows at once. To get
    the mean, divide the result by the number of tokens; the backward pass scales the gradients accordingly.

    Under autocast, only the products are in half precision.

    Args:
        x: Inputs of the last linear layer at real tokens. Rows beyond the targets are ignored.
        weight: Weights of the last linear layer.
        bias: Bias of the last linear layer.
        targets: The correct next tokens.
        smoothing: ε.
    """
    with_gradients = torch.is_grad_enabled()
    total: Tensor = _VocabularyLoss.apply(  # type: ignore[no-untyped-call]
        x, weight, bias, targets, smoothing, with_gradients
    )
    return total


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
        low, vocab_size = product_dtype(weight), len(weight)
        n_rows = _rows_at_once(len(x), low != weight.dtype)
        low_weight, low_bias = weight.to(low), None if bias is None else bias.to(low)
        total, d_x, d_weight = x.new_zeros(()), torch.empty_like(x), torch.empty_like(weight)
        d_bias = None if bias is None else torch.zeros_like(bias)
        if smoothing:  # the sum of all logits, computed without reading the logits
            logit_sum = x[: len(targets)].to(low).sum(0, dtype=x.dtype) @ low_weight.sum(0, dtype=x.dtype)
            total -= smoothing / vocab_size * (logit_sum if bias is None else logit_sum + len(targets) * bias.sum())
        buffer = x.new_empty(min(n_rows, len(x)), vocab_size, dtype=low)
        for start in range(0, len(x) or 1, n_rows):  # run once even without rows, to get gradients of 0
            rows, target = x[start : start + n_rows], targets[start : start + n_rows, None]
            rows = rows.to(low)
            all_logits = _linear(rows, low_weight, low_bias, buffer[: len(rows)]).to(x.dtype)
            logits = all_logits[: len(target)]
            largest = logits.amax(dim=1)
            total -= (1 - smoothing) * logits.gather(1, target).sum()
            softmax = torch.softmax(logits, dim=1, out=logits)
            total += (largest - softmax.amax(dim=1).log()).sum()  # log Σ exp(logits), without computing exp again
            if with_gradients:
                if smoothing:
                    softmax.sub_(smoothing / vocab_size)
                softmax.scatter_add_(1, target, softmax.new_full(target.shape, smoothing - 1))
                gradient = all_logits
                gradient[len(target) :] = 0
                if d_bias is not None:
                    d_bias += gradient.sum(0)
                if low == weight.dtype:
                    torch.mm(gradient, weight, out=d_x[start : start + n_rows])
                    d_weight.addmm_(gradient.mT, rows, beta=int(start > 0))  # beta=0 does not read the buffer
                else:  # products in half precision, sums in single precision
                    gradient = gradient.to(low)
                    d_x[start : start + n_rows] = gradient @ low_weight
                    (d_weight.add_ if start else d_weight.copy_)(gradient.mT @ rows)
        # save_for_backward would keep a second reference to the gradients, and autograd would then copy them.
        ctx.gradients = (d_x, d_weight, d_bias) if with_gradients else None
        return total

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, scale: Tensor) -> tuple[Tensor | None, ...]:
        if ctx.gradients is None:
            raise RuntimeError("backward was already called on this loss: compute the loss again")
        (d_x, d_weight, d_bias), ctx.gradients = ctx.gradients, None
        return d_x.mul_(scale), d_weight.mul_(scale), None if d_bias is None else d_bias.mul_(scale), None, None, None


def _rows_at_once(n: int, low: bool) -> int:
    """Divide n rows evenly into chunks; return the size of a chunk, which is within 50 % of ``ROWS_PER_CHUNK``.

    In half precision, the size is a multiple of ``ROWS_PER_CHUNK`` / 4, because a CPU compiles new code for each size.
    """
    multiple = -(-ROWS_PER_CHUNK // 4) if low else 1
    return -(-n // max(1, round(n / ROWS_PER_CHUNK)) // multiple) * multiple or 1


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None, out: Tensor) -> Tensor:
    return torch.mm(x, weight.mT, out=out) if bias is None else torch.addmm(bias, x, weight.mT, out=out)


def product_dtype(x: Tensor) -> torch.dtype:
    """Return the dtype for products with this tensor: autocast's dtype, or the tensor's own dtype."""
    kind = x.device.type
    lowered = x.dtype == torch.float32 and torch.is_autocast_enabled(kind)
    return torch.get_autocast_dtype(kind) if lowered else x.dtype
