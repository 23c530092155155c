"""Fork server: a process that has imported torch, and forks a supervisor for each job.

It runs in a fresh interpreter that sees only the sandbox's copy of the course. No job passes through its own memory:
there, one learner's submission would remain, and every process forked later would get a copy of it. Where processes
cannot be forked safely (macOS, Windows), it runs a single job itself.
"""

import contextlib
import gc
import json
import os
import signal
import sys
import tempfile
import threading
from io import FileIO
from pathlib import Path
from typing import Any

import torch

from transformer_course.running.answer_job import run_job
from transformer_course.running.plain_data import pack, unpack
from transformer_course.sandbox import confine, framing, supervisor
from transformer_course.sandbox.linux import control_groups, disk_quota, namespaces, private_root
from transformer_course.sandbox.linux.process_settings import DUMPABLE, SUBREAPER, prctl
from transformer_course.sandbox.resource_limits import Limits


def main(folder: str, forks: bool) -> None:
    """Serve jobs that come on standard input, and answer on standard output, until the input is closed.

    Args:
        folder: Where to make the processes' own folders.
        forks: Whether to fork a supervisor for each job; else a single job is run in this process.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the grader, which ends this process
    jobs, answers = FileIO(os.dup(0), "r"), FileIO(os.dup(1), "w")
    null = os.open(os.devnull, os.O_RDWR)
    os.dup2(null, 0)
    os.dup2(null, 1)
    hide_other_copies()
    if forks:
        prctl(SUBREAPER, 1)  # orphans of a supervisor become children of this process, which kills them
        prctl(DUMPABLE, 0)  # no process of the same user may read its memory
        _warm_up()
        confine.prepare()
        gc.freeze()  # else collecting garbage writes to all that a child shares with this process
    gc.enable()
    guards = _probe_guards(folder)
    framing.send(answers, json.dumps(guards).encode())
    os.dup2(null, 2)

    def supervise() -> None:
        supervisor.supervise(jobs, answers, folder)

    with contextlib.suppress(framing.BrokenFrame):  # the trusted side has closed the pipe
        while framing.receive(jobs, len(framing.ANNOUNCEMENT)):
            if not forks:
                supervisor.run_in_this_process(jobs, answers, folder)
                return
            process = supervisor.fork((lambda: namespaces.run_inside(supervise)) if guards["namespaces"] else supervise)
            if os.waitpid(process, 0)[1] != 0:
                supervisor.kill_descendants()
                framing.send(answers, b"supervisor")
                framing.send(answers, b"")


def hide_other_copies() -> None:
    """Remove from ``sys.path`` every folder that contains the course, except the sandbox's copy.

    A folder that contains torch as well stays: it is ``site-packages``, and the sandbox's copy precedes it.
    """
    own = str(Path(__file__).parents[2])
    sys.path[:] = [
        folder
        for folder in sys.path
        if folder == own or not Path(folder, "transformer_lab").exists() or Path(folder, "torch").exists()
    ]


def _warm_up() -> None:
    """Run a job that makes torch load what it loads at its first call, once for all children.

    So is IPython's syntax, for its magic. There is no backward pass in it: autograd would start threads, after which
    the children could not run another.
    """
    source = "%matplotlib inline\ndef warm(x):\n    return torch.softmax(x @ x.mT, dim=-1)"
    case = {"inputs": {"x": torch.ones(2, 2)}, "label": ""}
    cells = [{"source": source}]
    unpack(pack(run_job({"name": "warm", "cells": cells, "cases": [case], "seconds": 10.0, "library": "{}"})))
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join()  # a process with threads should not fork


def _probe_guards(folder: str) -> dict[str, Any]:
    """Return the guards that this system offers, by confining a child process, if possible in namespaces of its own.

    Raises:
        SystemExit: The child cannot be confined; the reason is on standard error.
    """
    if sys.platform != "linux":
        return dict(confine.NO_GUARDS)
    guards = _guards_in_child(folder, inside=True) if namespaces.are_possible() else None
    guards = guards or _guards_in_child(folder, inside=False)
    if guards is None:
        raise SystemExit(1)
    return guards


def _guards_in_child(folder: str, inside: bool) -> dict[str, Any] | None:
    """Return the guards of a child that was confined; None if it could not be."""
    own_folder = tempfile.mkdtemp(dir=folder)
    group = control_groups.make(Limits())
    reading, writing = os.pipe()

    def tell() -> None:
        root = supervisor.own_root(folder)
        also = {"own_disk": disk_quota.mount(own_folder, Limits()), "cgroup": control_groups.join(group)}
        if root:
            private_root.bind_folder(root, own_folder)
        os.write(writing, json.dumps({**confine.confine(Limits(), own_folder, root), **also}).encode())

    child = supervisor.fork((lambda: namespaces.run_inside(tell)) if inside else tell)
    os.close(writing)
    with open(reading, "rb") as pipe:
        message = pipe.read()
    failed = os.waitpid(child, 0)[1] != 0
    os.rmdir(own_folder)
    control_groups.remove(group)
    return None if failed else dict(json.loads(message))
