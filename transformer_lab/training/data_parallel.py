"""Data parallelism on one machine: connected workers that together compute the same gradients as one worker."""

import copy
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.multiprocessing.spawn import spawn
from torch.nn import functional as F

THREADS_BY_DEFAULT = sys.platform == "win32"
"""Whether to use threads by default: on Windows, gloo often finds no network device."""


class World:
    """A group of workers and the rank of this worker; the workers are processes connected by gloo.

    Args:
        rank: Rank of this worker, counting from 0.
        size: Number of workers.
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size

    def all_reduce(self, tensor: Tensor) -> None:
        """Replace a tensor with its sum over all workers, in place."""
        dist.all_reduce(tensor)

    def barrier(self) -> None:
        """Wait until all workers have reached the barrier."""
        dist.barrier()


class ThreadWorld(World):
    """A group of workers that are threads of one process.

    Args:
        rank: Rank of this worker, counting from 0.
        meeting: The barrier at which the workers wait for each other.
        tensors: A list with one slot per worker, through which the workers share tensors.
    """

    def __init__(self, rank: int, meeting: threading.Barrier, tensors: list[Tensor]) -> None:
        super().__init__(rank, len(tensors))
        self._meeting, self._tensors = meeting, tensors

    def all_reduce(self, tensor: Tensor) -> None:
        """Replace a tensor with its sum over all workers, in place."""
        self._tensors[self.rank] = tensor
        self.barrier()
        total = torch.stack(self._tensors).sum(0)
        self.barrier()  # all workers must read before any worker writes
        tensor.copy_(total)

    def barrier(self) -> None:
        """Wait until all workers have reached the barrier."""
        self._meeting.wait()


def run_processes(
    work: Callable[..., Any],
    *args: Any,
    n_processes: int = 2,
    seconds: float = 120,
    in_threads: bool = THREADS_BY_DEFAULT,
) -> list[Any]:
    """Run a function in new processes that can exchange tensors, and return the results by rank.

    Args:
        work: The function, which takes a ``World`` and ``args``. The new processes import it, so it must be defined in
            a module, not in a notebook.
        *args: Other arguments of the function, which are copied for each process.
        n_processes: Number of processes.
        seconds: Time limit in seconds.
        in_threads: Whether to use threads instead of processes, as on Windows, where gloo often finds no network
            device. Threads exchange tensors only through the ``World``, not through ``torch.distributed``.

    Raises:
        TimeoutError: The time limit was exceeded. Processes are killed; threads end when they next wait for each other.
            torch.multiprocessing.ProcessRaisedException: A process raised an error, which the message shows; the other
            processes are killed. Threads raise the original error. torch.multiprocessing.ProcessExitedException: A
            process exited unexpectedly; the other processes are killed.
    """
    if in_threads:
        return _run_threads(work, args, n_processes, seconds)
    with tempfile.TemporaryDirectory() as folder:
        settings = n_processes, work, args, folder, seconds
        started = spawn(_work_in_process, settings, n_processes, join=False)  # type: ignore[no-untyped-call]
        ends_at = time.monotonic() + seconds
        try:
            while not started.join(max(0.0, ends_at - time.monotonic())):
                if time.monotonic() >= ends_at:
                    raise TimeoutError(f"{n_processes} processes took longer than {seconds} seconds")
        finally:
            for process in started.processes:
                process.kill()
                process.join()
        return [torch.load(_result(folder, rank), weights_only=False) for rank in range(n_processes)]


class StepReport(NamedTuple):
    """The measurements of one process in a data-parallel step."""

    n_tokens: int
    """Number of predicted tokens in the process's part of the batch."""
    own: Float[Tensor, " n_parameters"]
    """The gradient of the mean loss over the process's own part, flattened over all parameters."""
    reduced: Float[Tensor, " n_parameters"]
    """The gradient after the all-reduce, which is the gradient of the mean loss over the whole batch."""
    seconds: dict[str, float]
    """Shortest times for the whole batch in one process, for the joint step, and for the all-reduce alone."""


def data_parallel_step(
    world: World, model: nn.Module, tokens: Int[Tensor, "batch n"], pad_id: int, n_repeats: int = 5
) -> StepReport:
    """Compute and time the gradients of one batch together with other processes, for ``run_processes``.

    Every process has the same parameters and processes every ``world.size``-th text. The gradient of the mean over all
    tokens is the sum of the processes' gradients, weighted by their fractions of the tokens.

    Args:
        world: The group of processes.
        model: Returns the logits of the next token at each position, (batch, n, vocab_size).
        tokens: The whole batch.
        pad_id: The token that pads short texts, which is not predicted.
        n_repeats: Number of times to repeat each measurement.
    """
    part = tokens[world.rank :: world.size]
    n_tokens = int((part[:, 1:] != pad_id).sum())
    total = torch.tensor(n_tokens)
    world.all_reduce(total)

    def together() -> Tensor:
        gradient = mean_loss_gradient(model, part, pad_id) * (n_tokens / total)
        world.all_reduce(gradient)
        return gradient

    def alone() -> None:
        if world.rank == 0:
            mean_loss_gradient(model, tokens, pad_id)

    own, reduced = mean_loss_gradient(model, part, pad_id), together()
    seconds = {
        "one process": _fastest(world, alone, n_repeats),
        "together": _fastest(world, together, n_repeats),
        "all-reduce": _fastest(world, lambda: world.all_reduce(torch.zeros_like(own)), n_repeats),
    }
    return StepReport(n_tokens, own, reduced, seconds)


def mean_loss_gradient(model: nn.Module, tokens: Int[Tensor, "batch n"], pad_id: int) -> Float[Tensor, " n_parameters"]:
    """Return the gradient of the mean loss over all next tokens except padding, flattened over all parameters.

    Args:
        model: Returns the logits of the next token at each position, (batch, n, vocab_size).
        tokens: The texts.
        pad_id: The token that pads short texts, which is not predicted.
    """
    logits = model(tokens[:, :-1])
    loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=pad_id)
    return nn.utils.parameters_to_vector(torch.autograd.grad(loss, list(model.parameters())))


def _fastest(world: World, run: Callable[[], object], n_repeats: int) -> float:
    """Return the shortest time from the moment all workers are ready until all workers are done."""
    times = []
    for _ in range(n_repeats):
        world.barrier()
        start = time.perf_counter()
        run()
        world.barrier()
        times.append(time.perf_counter() - start)
    return min(times)


def _work_in_process(
    rank: int, n_processes: int, work: Callable[..., Any], args: tuple[Any, ...], folder: str, seconds: float
) -> None:
    torch.set_num_threads(1)  # prevents the processes from competing for cores
    meeting = Path(folder, "meeting").as_uri()
    dist.init_process_group("gloo", meeting, timedelta(seconds=seconds), n_processes, rank)
    try:
        torch.save(work(World(rank, n_processes), *args), _result(folder, rank))
    finally:
        dist.destroy_process_group()


def _run_threads(work: Callable[..., Any], args: tuple[Any, ...], n_threads: int, seconds: float) -> list[Any]:
    meeting = threading.Barrier(n_threads)
    tensors = [torch.empty(0)] * n_threads
    results: list[Any] = [None] * n_threads
    errors: list[Exception] = []

    def run(rank: int, own_args: tuple[Any, ...]) -> None:
        try:
            results[rank] = work(ThreadWorld(rank, meeting, tensors), *own_args)
        except threading.BrokenBarrierError:
            pass  # another thread failed, or the time limit was exceeded
        except Exception as error:
            errors.append(error)
            meeting.abort()

    torch_threads = torch.get_num_threads()
    torch.set_num_threads(1)  # prevents the threads from competing for cores
    threads = [threading.Thread(target=run, args=(rank, copy.deepcopy(args)), daemon=True) for rank in range(n_threads)]
    ends_at = time.monotonic() + seconds
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(max(0.0, ends_at - time.monotonic()))
    finally:
        torch.set_num_threads(torch_threads)
    if errors:
        raise errors[0]
    if any(thread.is_alive() for thread in threads):
        meeting.abort()
        raise TimeoutError(f"{n_threads} threads took longer than {seconds} seconds")
    return results


def _result(folder: str, rank: int) -> Path:
    return Path(folder, f"result {rank}.pt")
