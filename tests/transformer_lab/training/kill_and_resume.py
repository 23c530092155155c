"""Repeatedly kill and resume a training run.

    python -m tests.transformer_lab.training.kill_and_resume FOLDER KILLS pairs|text

Each run is a fork of this process, so that torch is imported only once. A run reports that it is about to save, and is
killed a moment later. At that moment, its files may be unwritten, partly written or complete.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

import torch

from tests.transformer_lab.training.small_task import model, text_trainer, trainer
from transformer_lab.training.optimizer import make_optimizer


def train(folder: Path, task: str, report_fd: int) -> None:
    """Train to the end, and write a byte to ``report_fd`` before each save."""
    run = {"pairs": trainer, "text": text_trainer}[task](folder, save_every=1)
    save = run.save

    def reported_save() -> None:
        os.write(report_fd, b".")
        save()

    run.save = reported_save
    run.run()


def train_and_kill(folder: Path, task: str, saves: int | None, delay: float) -> int:
    """Start or resume a run, kill it ``delay`` seconds after the given number of saves, and return its exit code. If
    the number of saves is None, let the run finish.
    """
    read_fd, write_fd = os.pipe()
    if not (pid := os.fork()):
        status = 1
        try:
            train(folder, task, write_fd)
            status = 0
        finally:
            os._exit(status)
    os.close(write_fd)
    for _ in range(saves or 0):
        os.read(read_fd, 1)
    if saves:
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    os.close(read_fd)
    return os.waitstatus_to_exitcode(status)


def main(folder: Path, kills: int, task: str) -> None:
    """Kill the run the given number of times, then let it finish."""
    torch.set_num_threads(1)
    make_optimizer(model())  # import the parts of torch that the first optimizer loads, before forking
    rng = random.Random(int.from_bytes(os.urandom(4)))
    for _ in range(kills):
        print(train_and_kill(folder, task, saves=rng.randint(1, 3), delay=rng.uniform(0, 0.004)))
    print(train_and_kill(folder, task, saves=None, delay=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
