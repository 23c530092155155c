"""Several processes: together they do what one does."""

import socket
import sys
from pathlib import Path

import pandas as pd
import pytest
import torch
import torch.multiprocessing as mp

from tests.training.small_task import batches, config, model
from transformer_lab.tensor_files import PARAMETERS, read
from transformer_lab.training.distributed import Processes, processes
from transformer_lab.training.log import LOG
from transformer_lab.training.trainer import Trainer
from transformer_lab.training.validation import Judgement

STEPS = 6


def train(folder, together, steps=STEPS):
    judge = iter([10.0, 30.0, 20.0])
    changes = {"steps": STEPS, "log_every": 2, "validate_every": 2, "accumulate": 2}
    run = Trainer(
        model(dropout=0.0), batches(), config(**changes), folder, lambda: Judgement(1.5, next(judge)), together
    )
    run._is_over = lambda: run.progress.step >= steps
    run.run()
    return run


def one_of_two(rank: int, port: int, folder: str) -> None:
    """Be one of two processes, as ``torchrun`` starts them: stop half way between two rows of the log, and go on."""
    torch.set_num_threads(1)
    with pytest.MonkeyPatch.context() as patch:
        surroundings = {"RANK": rank, "WORLD_SIZE": 2, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
        for name, value in surroundings.items():
            patch.setenv(name, str(value))
        with processes() as together:
            assert (together.rank, together.count, together.first) == (rank, 2, rank == 0)
            assert together.add_up(rank + 1.0, 0.5) == [3.0, 1.0]
            whole = train(Path(folder, "whole"), together)
            train(Path(folder, "stopped"), together, steps=3)
            together.wait()
            train(Path(folder, "stopped"), together)
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
    train(folder, Processes())
    return folder


pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="gloo on Windows wants a device of its own")


def test_two_processes_agree_with_one(by_two, by_one):
    two, one = (
        pd.read_csv(path / LOG).drop(columns=["seconds", "tokens_per_second"]) for path in (by_two / "whole", by_one)
    )
    pd.testing.assert_frame_equal(two, one, rtol=1e-5)
    (ours, kept_ours), (theirs, kept_theirs) = (read(path / PARAMETERS) for path in (by_two / "whole", by_one))
    assert kept_ours == kept_theirs == {"step": 4}
    batch = next(batches().from_step(0))
    logits = []
    for parameters in (ours, theirs):  # not compared by themselves: those without a gradient follow its rounding
        network = model(dropout=0.0)
        network.load_state_dict(parameters)
        logits.append(network(batch.source, batch.target))
    torch.testing.assert_close(*logits, rtol=1e-3, atol=1e-3)


def test_both_processes_have_the_same_parameters(by_two):
    first, second = (torch.load(by_two / f"rank {rank}.pt") for rank in (0, 1))
    torch.testing.assert_close(first, second, rtol=0, atol=0)


def test_two_processes_go_on_as_if_they_had_not_stopped(by_two):
    whole, stopped = (pd.read_csv(by_two / name / LOG)["loss"].tolist() for name in ("whole", "stopped"))
    assert stopped == pytest.approx(whole, rel=1e-6)


def test_without_torchrun_there_is_one(monkeypatch):
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with processes() as alone:
        assert alone == Processes(0, 1) and alone.first
        assert alone.add_up(2.0, 3.0) == [2.0, 3.0]
        alone.wait()
        alone.add_up_gradients(model())
