"""Several processes that train one model, as started by ``torchrun``: each computes a part of every batch."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeVar

import torch
import torch.distributed as dist
from torch import nn

Prepared = TypeVar("Prepared")


@dataclass(frozen=True)
class World:
    """The processes that train together, and which of them this is.

    Args:
        rank: Number of this process, counted from 0.
        size: Number of processes.
    """

    rank: int = 0
    size: int = 1

    @property
    def is_main(self) -> bool:
        """Whether this process writes the files and prints: the first one does."""
        return self.rank == 0

    def barrier(self) -> None:
        """Wait until all processes have reached this call."""
        if self.size > 1:
            dist.barrier()

    def main_first(self, prepare: Callable[[], Prepared]) -> Prepared:
        """Return what a function returns that writes files unless they are there: the main process writes them."""
        if not self.is_main:
            self.barrier()
            return prepare()
        prepared = prepare()
        self.barrier()
        return prepared

    def sum_gradients(self, model: nn.Module) -> None:
        """Replace every gradient by its sum over all processes."""
        if self.size == 1:
            return
        parameters = list(model.parameters())
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters])
        dist.all_reduce(flat)
        for parameter, part in zip(parameters, torch.split(flat, [p.numel() for p in parameters]), strict=True):
            parameter.grad = part.view_as(parameter)

    def sum(self, *numbers: float) -> list[float]:
        """Return the sum of each number over all processes."""
        if self.size == 1:
            return list(numbers)
        total = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(total)
        return total.tolist()


@contextmanager
def distributed_world() -> Iterator[World]:
    """Join the processes that ``torchrun`` started, and leave them at the end of the block.

    Without ``torchrun``, this process is the only one.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield World()
        return
    # The main process prepares the data and validates; the others wait for it, however long that takes.
    dist.init_process_group("gloo", timeout=timedelta(days=1))
    try:
        yield World(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
