"""Decide whether a fast path may bypass a module, that is, compute the module's result without calling it.

Calling a module may do more than run the ``forward`` of a known class: a subclass or an instance may override
``forward``, and hooks may read or change its inputs and outputs. Profilers and FLOP counters register hooks for all
modules at once. Modules parametrized by ``torch.nn.utils`` need no special rule: they have a different class or a hook.
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
    """Return all collections of hooks that run when these modules are called; ``any`` tests whether there are hooks.

    torch and ``record_attention`` add to these collections and never replace them. So a decoding step can gather the
    collections of a whole model once and test them before each token.
    """
    return [*GLOBAL_HOOKS, *(hooks for module in modules for hooks in _own_hooks(module))]


def _own_hooks(module: nn.Module) -> tuple[Collection[object], ...]:
    """Return a module's own collections of hooks, including the ``weights_hooks`` of attention."""
    hooks = module._forward_hooks, module._forward_pre_hooks, module._backward_hooks, module._backward_pre_hooks
    attributes = vars(module)
    return (*hooks, attributes["weights_hooks"]) if "weights_hooks" in attributes else hooks


def may_bypass(module: nn.Module, kind: type[Module]) -> TypeGuard[Module]:
    """Return whether calling a module would only run the ``forward`` of exactly this class."""
    if type(module) is not kind or "forward" in vars(module):
        return False
    return not any(GLOBAL_HOOKS) and not any(_own_hooks(module))


def may_bypass_in_inference(modules: Iterable[nn.Module], kinds: Collection[type[nn.Module]]) -> bool:
    """Return whether all modules may be bypassed, ``is_inference`` is True, and no dropout is active.

    Args:
        modules: The modules.
        kinds: The classes that the fast path supports.
    """
    return is_inference() and all(
        type(module) in kinds and not module.training and may_bypass(module, type(module)) for module in modules
    )


def is_inference() -> bool:
    """Return whether gradients and autocast, which change how operations behave, are both off."""
    return not torch.is_grad_enabled() and not any(map(torch.is_autocast_enabled, ("cpu", "cuda", "mps")))


def call(module: nn.Module, x: Float[Tensor, "n_rows d_in"]) -> Float[Tensor, "n_rows d_out"]:
    """Call a module with the rows as a single sentence, because a module may require three dimensions.

    torch's linear layers and norms and the paper's feed-forward network are bypassed, which avoids reshaping, its
    gradients, and a copy of the hidden layer.
    """
    if may_bypass(module, nn.Linear):
        return F.linear(x, module.weight, module.bias)
    if may_bypass(module, nn.LayerNorm):
        return F.layer_norm(x, module.normalized_shape, module.weight, module.bias, module.eps)
    if may_bypass(module, nn.Identity):
        return x
    if may_bypass(module, FeedForward) and may_bypass(module.w_1, nn.Linear) and "activation" not in vars(module):
        return call(module.w_2, call(module.w_1, x).relu_())  # in place, because nothing else reads these rows
    output: Tensor = module(x[None])  # (1, n_rows, d_out)
    return output.squeeze(0)
