"""Functions whose gradients are written by hand: an ``autograd.Function`` each."""

from typing import Any

import torch


def apply(function: type[torch.autograd.Function], *arguments: Any) -> Any:
    """Return the output of a function; where no gradients are wanted, without telling autograd of it.

    To tell takes longer than the shortest of these functions: 2 % of evaluating the tiny model of ``benchmarks/``.
    """
    if torch.is_grad_enabled():
        return function.apply(*arguments)  # type: ignore[no-untyped-call]
    return function.forward(_Forgetful(), *arguments)


class _Forgetful:
    """What takes the place of autograd's context."""

    def save_for_backward(self, *tensors: torch.Tensor | None) -> None:
        """Save nothing."""

    def set_materialize_grads(self, value: bool) -> None:
        """There will be none."""
