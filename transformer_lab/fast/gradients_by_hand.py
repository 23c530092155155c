"""Functions whose gradients are written by hand: an ``autograd.Function`` each."""

from typing import Any

import torch


def apply(function: type[torch.autograd.Function], *arguments: Any) -> Any:
    """Return the output of a function, bypassing autograd where no gradients are wanted.

    Autograd's overhead exceeds the time of the shortest of these functions: 2 % of evaluating the tiny model of
    ``benchmarks/``.
    """
    if torch.is_grad_enabled():
        return function.apply(*arguments)  # type: ignore[no-untyped-call]
    return function.forward(_NoContext(), *arguments)


class _NoContext:
    """Stands in for autograd's context."""

    def save_for_backward(self, *tensors: torch.Tensor | None) -> None:
        """Save nothing."""

    def set_materialize_grads(self, value: bool) -> None:
        """Do nothing: there will be no gradients."""
