"""The paper's feed-forward network, and GPT's, with gradients by hand: activations and gradients are computed in place.

The hidden layer is the widest of all, so most of what ReLU costs is reading and writing it: in place, a third of that.
"""

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from transformer_lab.fast.bypass import call, may_bypass
from transformer_lab.fast.gradients_by_hand import apply
from transformer_lab.layers.feed_forward import FeedForward, GELUFeedForward, GELUTanhFeedForward

GELU: dict[type[FeedForward], str | None] = {FeedForward: None, GELUFeedForward: "none", GELUTanhFeedForward: "tanh"}
"""The classes of networks that are bypassed, each with the form of its GELU, or None for ReLU."""


def feed_forward(network: nn.Module, x: Float[Tensor, "n_rows d_model"]) -> Float[Tensor, "n_rows d_model"]:
    """Return the output of a network; one of another class is called, and under autocast every one."""
    kind = type(network)
    if (
        kind in GELU
        and may_bypass(network, kind)
        and may_bypass(network.w_1, nn.Linear)
        and may_bypass(network.w_2, nn.Linear)
        and not torch.is_autocast_enabled(x.device.type)
    ):
        parameters = network.w_1.weight, network.w_1.bias, network.w_2.weight, network.w_2.bias
        output: Tensor = apply(_FeedForward, x, *parameters, GELU[kind])
        return output
    return call(network, x)


class _FeedForward(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, w_1: Tensor, b_1: Tensor | None, w_2: Tensor, b_2: Tensor | None, gelu: str | None
    ) -> Tensor:
        z = F.linear(x, w_1, b_1)
        hidden = z.relu_() if gelu is None else F.gelu(z, approximate=gelu)
        ctx.save_for_backward(x, w_1, w_2, z, hidden)
        ctx.gelu = gelu
        return F.linear(hidden, w_2, b_2)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        x, w_1, w_2, z, hidden = ctx.saved_tensors
        d_z = gradient @ w_2
        if ctx.gelu is None:
            torch.ops.aten.threshold_backward.grad_input(d_z, hidden, 0, grad_input=d_z)
        else:
            torch.ops.aten.gelu_backward.grad_input(d_z, z, approximate=ctx.gelu, grad_input=d_z)
        needs_x, needs_w_1, needs_b_1, needs_w_2, needs_b_2, _ = ctx.needs_input_grad
        return (
            d_z @ w_1 if needs_x else None,
            d_z.mT @ x if needs_w_1 else None,
            d_z.sum(0) if needs_b_1 else None,
            gradient.mT @ hidden if needs_w_2 else None,
            gradient.sum(0) if needs_b_2 else None,
            None,
        )
