"""The fork server: a process that imports torch once and forks a supervisor for each notebook.

The fork server runs in a fresh interpreter that can import only the sandbox's copy of the course. It never reads a job,
because a learner's submission would stay in its memory and be copied to every process forked later. If processes cannot
be forked safely (macOS, Windows), it runs a single job itself.
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
    """Read jobs from standard input and write replies to standard output until the input is closed.

    Args:
        folder: The folder in which each process gets its own folder.
        forks: Whether to fork supervisors; otherwise, this process runs a single job.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # only the grader handles Ctrl-C, and then ends this process
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
        gc.freeze()  # otherwise, garbage collection writes to memory shared with children
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
    """Remove all folders with the course from ``sys.path``, except the sandbox's copy.

    A folder that also contains torch stays, because it is ``site-packages``; the sandbox's copy of the course comes
    first in ``sys.path``.
    """
    own = str(Path(__file__).parents[2])
    sys.path[:] = [
        folder
        for folder in sys.path
        if folder == own or not Path(folder, "transformer_lab").exists() or Path(folder, "torch").exists()
    ]


def _warm_up() -> None:
    """Run a job, so that torch's first-call initialization happens once instead of in every child.

    The job contains a magic command, which also loads IPython's parser. It does not contain a backward pass, because
    autograd would start threads, and then children could not run backward passes.
    """
    source = "%matplotlib inline\ndef warm(x):\n    return torch.softmax(x @ x.mT, dim=-1)"
    case = {"inputs": {"x": torch.ones(2, 2)}, "label": ""}
    cells = [{"source": source}]
    unpack(pack(run_job({"name": "warm", "cells": cells, "cases": [case], "seconds": 10.0, "library": "{}"})))
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join()  # a process with threads should not fork


def _probe_guards(folder: str) -> dict[str, Any]:
    """Confine a child process, if possible in separate namespaces, and return the guards that work on this system.

    Raises:
        SystemExit: The child cannot be confined; the reason is printed to standard error.
    """
    if sys.platform != "linux":
        return dict(confine.NO_GUARDS)
    guards = _guards_in_child(folder, inside=True) if namespaces.are_possible() else None
    guards = guards or _guards_in_child(folder, inside=False)
    if guards is None:
        raise SystemExit(1)
    return guards


def _guards_in_child(folder: str, inside: bool) -> dict[str, Any] | None:
    """Return the guards of a confined child process, or None if it could not be confined."""
    own_folder = tempfile.mkdtemp(dir=folder)
    group = control_groups.make(Limits())
    reading, writing = os.pipe()

    def report() -> None:
        root = supervisor.make_private_root(folder)
        more = {"own_disk": disk_quota.mount(own_folder, Limits()), "cgroup": control_groups.join(group)}
        if root:
            private_root.bind_folder(root, own_folder)
        os.write(writing, json.dumps({**confine.confine(Limits(), own_folder, root), **more}).encode())

    child = supervisor.fork((lambda: namespaces.run_inside(report)) if inside else report)
    os.close(writing)
    with open(reading, "rb") as pipe:
        message = pipe.read()
    failed = os.waitpid(child, 0)[1] != 0
    os.rmdir(own_folder)
    control_groups.remove(group)
    return None if failed else dict(json.loads(message))
