"""When a fast path may bypass a module: compute what the module computes, without calling it.

A call may do more than the ``forward`` of a known class: a subclass overrides it, an instance has one of its own, and
hooks see, or change, what goes in and out. Profilers and FLOP counters register hooks for all modules at once. Modules
that are parametrized by ``torch.nn.utils`` need no rule: they are of another class, or have a hook.
"""

from collections.abc import Collection, Iterable
from typing import TypeGuard, TypeVar

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.modules import module as registries

from transformer_lab.layers.feed_forward import FeedForward

Module = TypeVar("Module", bound=nn.Module)

GLOBAL_HOOKS: tuple[Collection[object], ...] = (
    registries._global_forward_hooks,
    registries._global_forward_pre_hooks,
    registries._global_backward_hooks,
    registries._global_backward_pre_hooks,
)


def hooks_of(*modules: nn.Module) -> list[Collection[object]]:
    """Return all collections of hooks, of which a call of modules runs what is in them: ``any`` tells if something is.

    These are the collections themselves, which torch and ``record_attention`` add to and never replace. So a decoding
    step gathers those of a whole model once, and asks before each token.
    """
    return [*GLOBAL_HOOKS, *(hooks for module in modules for hooks in _own_hooks(module))]


def _own_hooks(module: nn.Module) -> tuple[Collection[object], ...]:
    """Return a module's own collections of hooks; attention has one more."""
    hooks = module._forward_hooks, module._forward_pre_hooks, module._backward_hooks, module._backward_pre_hooks
    attributes = vars(module)
    return (*hooks, attributes["weights_hooks"]) if "weights_hooks" in attributes else hooks


def may_bypass(module: nn.Module, kind: type[Module]) -> TypeGuard[Module]:
    """Return whether calling a module would do nothing but run the ``forward`` of exactly this class."""
    if type(module) is not kind or "forward" in vars(module):
        return False
    return not any(GLOBAL_HOOKS) and not any(_own_hooks(module))


def may_bypass_in_inference(modules: Iterable[nn.Module], kinds: Collection[type[nn.Module]]) -> bool:
    """Return whether all modules may be bypassed, and compute as in inference: see ``is_inference``, without dropout.

    Args:
        modules: The modules.
        kinds: The classes that the fast path knows.
    """
    return is_inference() and all(
        type(module) in kinds and not module.training and may_bypass(module, type(module)) for module in modules
    )


def is_inference() -> bool:
    """Return whether there are neither gradients nor autocast, under which operations do more than they say."""
    return not torch.is_grad_enabled() and not any(map(torch.is_autocast_enabled, ("cpu", "cuda", "mps")))


def call(module: nn.Module, x: Float[Tensor, "n_rows d_in"]) -> Float[Tensor, "n_rows d_out"]:
    """Return what a module returns for rows, which it takes for one sentence: a module may insist on three axes.

    Torch's linear layers and norms and the paper's feed-forward network are bypassed: that saves reshaping there and
    back, with its gradients, and a copy of the hidden layer.
    """
    if may_bypass(module, nn.Linear):
        return F.linear(x, module.weight, module.bias)
    if may_bypass(module, nn.LayerNorm):
        return F.layer_norm(x, module.normalized_shape, module.weight, module.bias, module.eps)
    if may_bypass(module, nn.Identity):
        return x
    if may_bypass(module, FeedForward) and may_bypass(module.w_1, nn.Linear) and "activation" not in vars(module):
        return call(module.w_2, call(module.w_1, x).relu_())  # in place: nobody else sees these rows
    output: Tensor = module(x[None])
    return output.squeeze(0)
