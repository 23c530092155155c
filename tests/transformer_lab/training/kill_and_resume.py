"""A training run that is killed again and again, and resumed each time.

    python -m tests.transformer_lab.training.kill_and_resume FOLDER KILLS pairs|text

Torch is loaded once; every life is a fork. A life says when it is about to save, and is killed a moment later: before,
while or after the files are written.
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


def live(folder: Path, task: str, say: int) -> None:
    """Train to the end, if nothing comes between."""
    run = {"pairs": trainer, "text": text_trainer}[task](folder, save_every=1)
    save = run.save

    def announced() -> None:
        os.write(say, b".")
        save()

    run.save = announced
    run.run()


def life(folder: Path, task: str, saves: int | None, delay: float) -> int:
    """Begin or go on, and kill it a moment after so many saves have begun; give its exit status."""
    hear, say = os.pipe()
    if not (pid := os.fork()):
        status = 1
        try:
            live(folder, task, say)
            status = 0
        finally:
            os._exit(status)
    os.close(say)
    for _ in range(saves or 0):
        os.read(hear, 1)
    if saves:
        time.sleep(delay)
        os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    os.close(hear)
    return os.waitstatus_to_exitcode(status)


def main(folder: Path, kills: int, task: str) -> None:
    """Kill it so many times, then let it live."""
    torch.set_num_threads(1)
    make_optimizer(model())  # the first one loads half of torch
    rng = random.Random(int.from_bytes(os.urandom(4)))
    for _ in range(kills):
        print(life(folder, task, saves=rng.randint(1, 3), delay=rng.uniform(0, 0.004)))
    print(life(folder, task, saves=None, delay=0))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
