"""Whether a model's modules may be passed over: only where a shorter way leaves out nothing that happens in them."""

from collections.abc import Collection, Iterable

import torch
from torch import nn

from transformer_lab.attention.multi_head import AttentionBase


def are_known(modules: Iterable[nn.Module], known: Collection[type[nn.Module]]) -> bool:
    """Return whether modules do nothing but what their classes do in eval mode, without gradients.

    Args:
        modules: The modules.
        known: The classes; subclasses, as those of learners or of LoRA, may do something else.
    """
    if torch.is_grad_enabled() or any(map(torch.is_autocast_enabled, ("cpu", "cuda", "mps"))):
        return False
    return not any(type(module) not in known or module.training or "forward" in vars(module) for module in modules)


class Watchers:
    """Tells, at any time, whether somebody looks inside modules.

    Args:
        modules: The modules.
    """

    def __init__(self, modules: Iterable[nn.Module]) -> None:
        modules = list(modules)
        self._hooks = [hooks for module in modules for hooks in (module._forward_hooks, module._forward_pre_hooks)]
        self._attentions = [module for module in modules if isinstance(module, AttentionBase)]

    def __bool__(self) -> bool:
        """Return whether there are hooks, or gradients are wanted: that takes the modules themselves."""
        hooked = any(self._hooks) or any(attention.weights_hook is not None for attention in self._attentions)
        return hooked or torch.is_grad_enabled()
