"""Tests that data-parallel workers get the gradient of the whole batch, and that lost workers cause errors."""

import os
import sys
import time

import pytest
import torch
from torch.multiprocessing import ProcessExitedException
from torch.nn import functional as F

from transformer_lab.models.language_model import LanguageModel
from transformer_lab.models.language_model_config import LanguageModelConfig
from transformer_lab.training.data_parallel import data_parallel_step, run_processes

needs_gloo = pytest.mark.skipif(sys.platform == "win32", reason="on Windows, gloo needs an explicit network device")
in_threads = pytest.param(True, id="threads")
in_processes = pytest.param(False, id="processes", marks=[needs_gloo, pytest.mark.slow])

PAD = 0


def leave(world):
    """Exit in process 1 while process 0 waits for process 1."""
    if world.rank == 1:
        os._exit(3)
    torch.distributed.barrier()


def gradient_text_by_text(model, texts):
    """Return the gradient of the mean loss over all tokens, computed text by text without padding."""
    losses = [F.cross_entropy(model(text[None, :-1])[0], text[1:], reduction="sum") for text in texts]
    loss = sum(losses) / sum(len(text) - 1 for text in texts)
    return torch.cat([gradient.flatten() for gradient in torch.autograd.grad(loss, list(model.parameters()))])


def fail_in_one_worker(world):
    """Raise an error in one worker while the other worker waits for it."""
    if world.rank == 1:
        raise ValueError("no tokens")
    world.barrier()


def wait_for_a_late_worker(world):
    """Wait in worker 0 for a worker that never arrives."""
    if world.rank == 0:
        world.barrier()


def change_argument(world, tensor):
    """Change an argument in place, and return the sum of values that differ between workers."""
    tensor += 100
    total = torch.tensor([world.rank + 1.0, 10.0])
    world.all_reduce(total)
    return total


@pytest.mark.parametrize("threads", [in_threads, in_processes])
def test_every_worker_gets_the_batch_gradient(threads):
    config = LanguageModelConfig.llama(29, d_model=12, n_heads=2, d_ff=20, n_layers=1)
    model = LanguageModel(config).double()
    texts = [torch.randint(1, 29, (n,)) for n in (11, 3, 7, 4, 9)]
    tokens = torch.nn.utils.rnn.pad_sequence(texts, batch_first=True, padding_value=PAD)
    reports = run_processes(data_parallel_step, model, tokens, PAD, n_processes=2, in_threads=threads)
    assert [report.n_tokens for report in reports] == [10 + 6 + 8, 2 + 3]
    for rank, report in enumerate(reports):
        torch.testing.assert_close(report.own, gradient_text_by_text(model, texts[rank::2]))
        torch.testing.assert_close(report.reduced, gradient_text_by_text(model, texts))
        assert report.seconds.keys() == {"one process", "together", "all-reduce"}
        assert min(report.seconds.values()) > 0


def test_threads_sum_tensors_and_copy_arguments():
    tensor = torch.zeros(2)
    threads_before = torch.get_num_threads()
    totals = run_processes(change_argument, tensor, n_processes=3, in_threads=True)
    for total in totals:
        torch.testing.assert_close(total, torch.tensor([1.0 + 2 + 3, 30]))
    assert tensor.tolist() == [0, 0]
    assert torch.get_num_threads() == threads_before


def test_threads_raise_the_error_from_a_worker():
    with pytest.raises(ValueError, match="no tokens"):
        run_processes(fail_in_one_worker, in_threads=True)


def test_threads_that_take_too_long_raise_timeout():
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=r"2 threads took longer than 0\.2 seconds"):
        run_processes(wait_for_a_late_worker, seconds=0.2, in_threads=True)
    assert time.monotonic() - start < 60


@needs_gloo
def test_exited_process_raises_instead_of_hanging():
    with pytest.raises(ProcessExitedException, match="process 1 terminated with exit code 3"):
        run_processes(leave)


@needs_gloo
def test_kills_processes_that_take_too_long():
    start = time.monotonic()
    with pytest.raises(TimeoutError, match=r"2 processes took longer than 0\.5 seconds"):
        run_processes(leave, seconds=0.5)
    assert time.monotonic() - start < 300, "gloo would wait for half an hour"
