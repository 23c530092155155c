"""Several processes: together they do what one does."""

import socket
import sys
from pathlib import Path

import pandas as pd
import pytest
import torch
import torch.multiprocessing as mp

from tests.transformer_lab.training.small_task import batches, config, model
from transformer_lab.tensor_files import PARAMETERS, read_tensors
from transformer_lab.training.distributed import World, distributed_world
from transformer_lab.training.log import LOG
from transformer_lab.training.trainer import Trainer
from transformer_lab.training.validation import ValidationResult

STEPS = 6


def train(folder, world, max_steps=None):
    scores = iter([10.0, 30.0, 20.0])
    changes = {"steps": STEPS, "log_every": 2, "validate_every": 2, "accumulate": 2}
    run = Trainer(
        model(dropout=0.0), batches(), config(**changes), folder, lambda: ValidationResult(1.5, next(scores)), world
    )
    run.run(max_steps)
    return run


def one_of_two(rank: int, port: int, folder: str) -> None:
    """Be one of two processes, as ``torchrun`` starts them: stop half way between two rows of the log, and go on."""
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        surroundings = {"RANK": rank, "WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        for name, value in surroundings.items():
            patch.setenv(name, str(value))
        with distributed_world() as world:
            assert (world.rank, world.size, world.is_main) == (rank, 2, rank == 0)
            assert world.sum(rank + 1.0, 0.5) == [3.0, 1.0]
            whole = train(Path(folder, "whole"), world)
            train(Path(folder, "stopped"), world, max_steps=3)
            world.barrier()
            train(Path(folder, "stopped"), world)
            assert whole.progress.best == 30
            torch.save(whole.model.state_dict(), Path(folder, f"rank {rank}.pt"))


@pytest.fixture(scope="module")
def by_two(tmp_path_factory):
    folder = tmp_path_factory.mktemp("two")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(one_of_two, (port, str(folder)), nprocs=2)
    return folder


@pytest.fixture(scope="module")
def by_one(tmp_path_factory):
    folder = tmp_path_factory.mktemp("one")
    train(folder, World())
    return folder


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="gloo on Windows wants a device of its own")
of_two_processes = pytest.mark.thorough  # each imports torch; the command under torchrun starts two in every run


@of_two_processes
def test_two_processes_agree_with_one(by_two, by_one):
    two, one = (
        pd.read_csv(path / LOG).drop(columns=["seconds", "tokens_per_second"]) for path in (by_two / "whole", by_one)
    )
    pd.testing.assert_frame_equal(two, one, rtol=1e-5)
    (ours, kept_ours), (theirs, kept_theirs) = (read_tensors(path / PARAMETERS) for path in (by_two / "whole", by_one))
    assert kept_ours == kept_theirs == {"step": 4}
    batch = next(batches().from_step(0))
    logits = []
    for parameters in (ours, theirs):  # not compared by themselves: those without a gradient follow its rounding
        network = model(dropout=0.0)
        network.load_state_dict(parameters)
        logits.append(network(batch.source, batch.target))
    torch.testing.assert_close(*logits, rtol=1e-3, atol=1e-3)


@of_two_processes
def test_both_processes_have_the_same_parameters(by_two):
    first, second = (torch.load(by_two / f"rank {rank}.pt") for rank in (0, 1))
    torch.testing.assert_close(first, second, rtol=0, atol=0)


@of_two_processes
def test_two_processes_go_on_as_if_they_had_not_stopped(by_two):
    whole, stopped = (pd.read_csv(by_two / name / LOG)["loss"].tolist() for name in ("whole", "stopped"))
    assert stopped == pytest.approx(whole, rel=1e-6)


def test_without_torchrun_there_is_one(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with distributed_world() as alone:
        assert alone == World(0, 1) and alone.is_main
        assert alone.sum(2.0, 3.0) == [2.0, 3.0]
        alone.barrier()
        alone.sum_gradients(model())
