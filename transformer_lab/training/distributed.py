"""Several processes that train one model, as started by ``torchrun``: each takes a share of every batch."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn


@dataclass(frozen=True)
class Processes:
    """Which of how many processes this is."""

    rank: int = 0
    count: int = 1

    @property
    def first(self) -> bool:
        """Whether this one writes the files and speaks to the user."""
        return self.rank == 0

    def wait(self) -> None:
        """Wait until all processes have come this far."""
        if self.count > 1:
            dist.barrier()

    def add_up_gradients(self, model: nn.Module) -> None:
        """Replace every gradient by its sum over all the processes."""
        if self.count == 1:
            return
        parameters = list(model.parameters())
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters])
        dist.all_reduce(flat)
        for parameter, part in zip(parameters, torch.split(flat, [p.numel() for p in parameters]), strict=True):
            parameter.grad = part.view_as(parameter)

    def add_up(self, *numbers: float) -> list[float]:
        """Sum each number over all the processes."""
        if self.count == 1:
            return list(numbers)
        total = torch.tensor(numbers, dtype=torch.float64)
        dist.all_reduce(total)
        return total.tolist()


@contextmanager
def processes() -> Iterator[Processes]:
    """Join the processes that ``torchrun`` started; without it, there is this one."""
    if int(os.environ.get("WORLD_SIZE", "1")) == 1:
        yield Processes()
        return
    # The first process prepares the data and validates; the others wait for it as long as that takes.
    dist.init_process_group("gloo", timeout=timedelta(days=1))
    try:
        yield Processes(dist.get_rank(), dist.get_world_size())
    finally:
        dist.destroy_process_group()
