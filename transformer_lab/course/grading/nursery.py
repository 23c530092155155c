"""The process that the jail's processes come from: it has imported torch, and forks one child per job.

It runs in a fresh interpreter that sees a copy of the few modules a job needs, and holds nothing secret. Where
processes cannot be forked safely (macOS, Windows) it does a single job itself.
"""

import contextlib
import json
import os
import select
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import NoReturn

import torch

from transformer_lab.course.grading import confine, frames, landlock, worker
from transformer_lab.course.grading.confine import Limits
from transformer_lab.course.plain import pack, unpack

LARGEST_JOB = 1 << 30
SUBREAPER, DUMPABLE = 36, 4  # man 2 prctl


def main(folder: str, forks: bool) -> None:
    """Answer the jobs that come on standard input, on standard output, until it is closed.

    Args:
        folder: Where the processes may have their own folders.
        forks: Whether to fork a child per job; else it does a single job itself.
    """
    jobs, answers = os.dup(0), os.dup(1)
    if sys.platform == "win32":
        import msvcrt

        for stream in (jobs, answers):
            msvcrt.setmode(stream, os.O_BINARY)
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    _forget_the_course()
    if forks:
        confine.prctl(SUBREAPER, 1)  # what a job leaves behind becomes ours, and can be ended
        confine.prctl(DUMPABLE, 0)  # its memory is not for the same user to look into
        _warm_up()
    ready = {"own_user": forks and _can_become_nobody(folder), "landlock": landlock.version()}
    frames.send(answers, json.dumps(ready).encode())
    os.dup2(nothing, 2)
    with contextlib.suppress(frames.Broken):
        while True:
            request = unpack(frames.receive(jobs, LARGEST_JOB))
            limits = Limits(**request["limits"])
            with tempfile.TemporaryDirectory(dir=folder, ignore_cleanup_errors=True) as own_folder:
                if not forks:
                    os.close(jobs)
                    frames.send(answers, _work(request["job"], limits, own_folder))
                    return
                how, answer = _look_after(request["job"], limits, own_folder)
            frames.send(answers, how.encode())
            frames.send(answers, answer)


def _forget_the_course() -> None:
    """Find modules by path only, and none of the course but those that were copied here."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if isinstance(finder, type)]  # those of Python itself
    own = str(Path(__file__).parents[3])
    sys.path[:] = [
        folder
        for folder in sys.path
        if folder == own or not Path(folder, "transformer_lab").exists() or Path(folder, "torch").exists()
    ]


def _warm_up() -> None:
    """Load what torch loads at the first call, once for all children; a backward pass would forbid theirs."""
    source = "def warm(x):\n    return torch.softmax(x @ x.mT, dim=-1)"
    case = {"inputs": {"x": torch.ones(2, 2)}, "shows": ""}
    cells = [{"id": "", "source": source}]
    worker.do({"name": "warm", "cells": cells, "cases": [case], "seconds": 10.0, "library": {}})
    for thread in threading.enumerate():
        if thread is not threading.current_thread():
            thread.join()  # a process with threads should not fork


def _can_become_nobody(folder: str) -> bool:
    with tempfile.TemporaryDirectory(dir=folder) as own_folder:
        child = os.fork()
        if child == 0:
            try:
                os._exit(0 if confine.become_nobody(os.getpid(), own_folder) else 1)
            finally:
                os._exit(1)
        return os.waitpid(child, 0)[1] == 0


def _work(job: worker.Job, limits: Limits, folder: str) -> bytes:
    """Do a job within the limits."""
    try:
        confine.confine(limits, folder)
        return pack(worker.do(job))
    except BaseException as error:  # for want of memory, mostly
        return pack({"crash": {"type": type(error).__name__, "message": ""}})


def _look_after(job: worker.Job, limits: Limits, folder: str) -> tuple[str, bytes]:
    """Do a job in a child, wait no longer than agreed, and leave nothing of it running."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _be_the_child(job, limits, folder, writing)
    os.close(writing)
    try:
        answer, how = _listen(child, reading, time.monotonic() + limits.patience, limits.answer_mb << 20)
    finally:
        os.close(reading)
        status = _end(child)
    if how == "exit":
        signalled = os.WIFSIGNALED(status)
        how = signal.Signals(os.WTERMSIG(status)).name if signalled else f"exit {os.WEXITSTATUS(status)}"
    return how, answer


def _be_the_child(job: worker.Job, limits: Limits, folder: str, writing: int) -> NoReturn:
    try:
        os.setsid()
        os.dup2(writing, 3)
        os.closerange(4, 1 << 16)
        frames.send_raw(3, _work(job, limits, folder))
        os._exit(0)
    finally:
        os._exit(1)


def _listen(child: int, reading: int, deadline: float, at_most: int) -> tuple[bytes, str]:
    """Collect what the child says until it ends: on its own (``exit``), or for being too slow or too loud."""
    answer = bytearray()
    open_end = True
    while time.monotonic() < deadline:
        ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        ready = open_end and select.select([reading], [], [], 0 if ended else 0.02)[0]
        if ready:
            piece = os.read(reading, 1 << 20)
            open_end = bool(piece)
            answer += piece
            if len(answer) > at_most:
                return b"", "size"
        elif ended:
            return bytes(answer), "exit"
        elif not open_end:
            time.sleep(0.001)
    return b"", "time"


def _end(child: int) -> int:
    """Kill the child and whatever it started, wherever that has gone; give the child's exit status."""
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    while descendants := _descendants(os.getpid()):  # orphans among them: they have become ours
        _kill_all_of(confine.user_for(child))
        for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, so that none forks while others are killed
            for process in descendants:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
    return status


def _kill_all_of(user: int) -> None:
    """Kill every process of a user at once, which no fork can outrun; only root can."""
    if os.geteuid() != 0:
        return
    killer = os.fork()
    if killer == 0:
        try:
            os.setresuid(user, user, user)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(killer, 0)


def _descendants(ancestor: int) -> list[int]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parents[int(stat.parent.name)] = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    found = [ancestor]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found[1:]
