"""An exponential moving average (EMA) of a model's parameters, which often works better than the last parameters."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class EMA:
    """An exponential moving average of a model's parameters, which is smoother than the parameters themselves.

    This is averaging as in Polyak and Juditsky (1992), but with weights that decrease with age. The average covers
    about ``1 / (1 − decay)`` steps, but fewer at first, so that the initial parameters soon lose their influence.

    Args:
        model: The model whose parameters are averaged.
        decay: Weight of the old average at each step.

    >>> layer = nn.Linear(1, 1)
    >>> average = EMA(layer, decay=0.9)
    >>> average.update(step=1)
    >>> with average.swapped_in():
    ...     y = layer(torch.ones(1))
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.model, self.decay = model, decay
        self.tensors: dict[str, Tensor] = {name: p.detach().clone() for name, p in model.named_parameters()}

    @torch.no_grad()
    def update(self, step: int) -> None:
        """Update the average with the parameters after a step, counting from 1."""
        decay = min(self.decay, step / (step + 9))
        for name, parameter in self.model.named_parameters():
            self.tensors[name].lerp_(parameter, 1 - decay)

    @contextmanager
    def swapped_in(self) -> Iterator[None]:
        """Use the averaged parameters inside the block."""
        self._swap()
        try:
            yield
        finally:
            self._swap()

    @torch.no_grad()
    def _swap(self) -> None:
        for name, parameter in self.model.named_parameters():
            own = parameter.clone()
            parameter.copy_(self.tensors[name])
            self.tensors[name].copy_(own)
