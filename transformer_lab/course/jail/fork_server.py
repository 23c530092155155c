"""The process that the jail's processes come from: it has imported torch, and forks a keeper for each job.

It runs in a fresh interpreter that sees a copy of the few modules a job needs. No job passes through its own memory:
what one learner handed in would still lie there when the next one's code gets its copy. Where processes cannot be
forked safely (macOS, Windows) it does a single job itself.
"""

import contextlib
import json
import os
import sys
import tempfile
import threading
from io import FileIO
from pathlib import Path
from typing import Any

import torch

from transformer_lab.course.jail import confine, framing, supervisor
from transformer_lab.course.jail.limits import Limits
from transformer_lab.course.running.job import run_job


def main(folder: str, forks: bool) -> None:
    """Do the jobs that come on standard input, and answer on standard output, until the input is closed.

    Args:
        folder: Where the processes may have their own folders.
        forks: Whether to fork a keeper per job; else a single job is done here.
    """
    jobs, answers = FileIO(os.dup(0), "r"), FileIO(os.dup(1), "w")
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    _forget_the_course()
    if forks:
        confine.prctl(confine.SUBREAPER, 1)  # what a keeper leaves behind becomes ours, and can be ended
        confine.prctl(confine.DUMPABLE, 0)  # its memory is not for the same user to look into
        _warm_up()
    framing.send(answers, json.dumps(_guards(folder)).encode())
    os.dup2(nothing, 2)
    with contextlib.suppress(framing.Broken):  # nobody asks any more
        while framing.receive(jobs, len(framing.ANNOUNCEMENT)):
            if not forks:
                supervisor.do_here(jobs, answers, folder)
                return
            process = supervisor.fork(lambda: supervisor.keep(jobs, answers, folder))
            if os.waitpid(process, 0)[1] != 0:
                supervisor.end_descendants()
                framing.send(answers, b"keeper")
                framing.send(answers, b"")


def _forget_the_course() -> None:
    """Leave no folder to import from that holds the course, but the one that it was copied to."""
    own = str(Path(__file__).parents[3])
    sys.path[:] = [
        folder
        for folder in sys.path
        if folder == own or not Path(folder, "transformer_lab").exists() or Path(folder, "torch").exists()
    ]


def _warm_up() -> None:
    """Load what torch loads at the first call, once for all children; a backward pass would forbid theirs."""
    source = "def warm(x):\n    return torch.softmax(x @ x.mT, dim=-1)"
    case = {"inputs": {"x": torch.ones(2, 2)}, "label": ""}
    cells = [{"id": "", "source": source}]
    run_job({"name": "warm", "cells": cells, "cases": [case], "seconds": 10.0, "library": {}})
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join()  # a process with threads should not fork


def _guards(folder: str) -> dict[str, Any]:
    """Find out what guards the machine from a confined process, by confining one.

    Raises:
        SystemExit: It cannot be confined; it has said why on standard error.
    """
    if sys.platform != "linux":
        return dict(confine.NO_GUARDS)
    own_folder = tempfile.mkdtemp(dir=folder)
    reading, writing = os.pipe()
    limits = Limits()
    child = supervisor.fork(lambda: os.write(writing, json.dumps(confine.confine(limits, own_folder)).encode()))
    os.close(writing)
    with open(reading, "rb") as said:
        guards = said.read()
    if os.waitpid(child, 0)[1] != 0:
        raise SystemExit(1)
    os.rmdir(own_folder)
    return dict(json.loads(guards))
