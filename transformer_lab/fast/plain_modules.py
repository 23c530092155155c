"""Modules whose ``forward`` is known: what they compute can be computed here, in fewer calls."""

from typing import TypeGuard, TypeVar

from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F

Module = TypeVar("Module", bound=nn.Module)


def is_plain(module: nn.Module, kind: type[Module]) -> TypeGuard[Module]:
    """Return whether a module is of exactly this class, and nobody has hooked or replaced its ``forward``."""
    if type(module) is not kind:
        return False
    hooks = module._forward_hooks or module._forward_pre_hooks or module._backward_hooks or module._backward_pre_hooks
    return not hooks and "forward" not in vars(module)


def call(module: nn.Module, x: Float[Tensor, "n_rows d_in"]) -> Float[Tensor, "n_rows d_out"]:
    """Return what a module returns for rows, which it takes for one sentence: a learner's may insist on three axes.

    Torch's linear layers and norms are not called: that saves reshaping there and back, and its gradients.
    """
    if is_plain(module, nn.Linear):
        return F.linear(x, module.weight, module.bias)
    if is_plain(module, nn.LayerNorm):
        return F.layer_norm(x, module.normalized_shape, module.weight, module.bias, module.eps)
    if is_plain(module, nn.Identity):
        return x
    output: Tensor = module(x[None])
    return output.squeeze(0)
