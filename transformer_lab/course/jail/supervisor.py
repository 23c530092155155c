"""Look after one job: do it in a child, wait no longer than agreed, and leave nothing of it behind."""

import contextlib
import os
import select
import signal
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO

from transformer_lab.course.jail import confine, delete_tree, framing
from transformer_lab.course.jail.exit_reasons import ending
from transformer_lab.course.jail.limits import Limits
from transformer_lab.course.running.job import Job, run_job
from transformer_lab.course.running.plain_data import pack, unpack

LARGEST_JOB = 1 << 30


def keep(jobs: BinaryIO, answers: BinaryIO, folder: str) -> None:
    """Read a job, have a child do it, and answer how the child ended and what it said."""
    job, limits = _receive(jobs)
    confine.prctl(confine.SUBREAPER, 1)
    own_folder = tempfile.mkdtemp(dir=folder)
    how, answer = _look_after(job, limits, own_folder)
    delete_tree.remove(own_folder, seconds=5.0)  # the jail deletes what takes longer when it is closed
    framing.send(answers, how.encode())
    framing.send(answers, answer)


def do_here(jobs: BinaryIO, answers: BinaryIO, folder: str) -> None:
    """Read a job, do it in this very process, and answer what it gave."""
    job, limits = _receive(jobs)
    jobs.close()
    framing.send(answers, _work(job, limits, tempfile.mkdtemp(dir=folder)))


def fork(act: Callable[[], object]) -> int:
    """Fork a child that does one thing; give its number."""
    child = os.fork()
    if child == 0:
        try:
            act()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(1)
    return child


def _receive(jobs: BinaryIO) -> tuple[Job, Limits]:
    request: dict[str, Any] = unpack(framing.receive(jobs, LARGEST_JOB))
    return request["job"], Limits(**request["limits"])


def _work(job: Job, limits: Limits, folder: str) -> bytes:
    """Do a job within the limits."""
    try:
        confine.confine(limits, folder)
        answer = run_job(job)
    except BaseException as error:
        answer = {"crash": {"type": type(error).__name__, "message": ""}}
    try:
        return pack(answer)
    except BaseException:  # safetensors panics where memory ends, and a panic is no MemoryError
        return pack({"crash": {"type": "MemoryError", "message": "there is no memory left to give back what it made"}})


def _look_after(job: Job, limits: Limits, folder: str) -> tuple[str, bytes]:
    reading, writing = os.pipe()
    child = fork(lambda: _be_the_child(job, limits, folder, writing))
    os.close(writing)
    try:
        answer, how = _listen(child, reading, time.monotonic() + limits.patience, limits.answer_mb << 20)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        end_descendants(confine.user_for(child))
    return (ending(code) if how == "exit" else how), answer


def _be_the_child(job: Job, limits: Limits, folder: str, writing: int) -> None:
    os.setsid()
    os.dup2(writing, 3)
    os.closerange(4, 1 << 16)
    with open(3, "wb", buffering=0) as pipe:
        framing.send_raw(pipe, _work(job, limits, folder))


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


def end_descendants(user: int | None = None) -> None:
    """Kill whatever this process's children started, wherever it has gone.

    Args:
        user: Whom all of it runs as, if it is a user of its own.
    """
    while descendants := _descendants(os.getpid()):  # orphans among them: they have become ours
        if user is not None and os.geteuid() == 0:
            os.waitpid(fork(lambda: _kill_all_of(user)), 0)
        for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, so that none forks while others are killed
            for process in descendants:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _kill_all_of(user: int) -> None:
    """Become a user and kill all its processes at once, which no fork can outrun; only root can."""
    os.setresuid(user, user, user)
    os.kill(-1, signal.SIGKILL)


def _descendants(ancestor: int) -> list[int]:
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parents[int(stat.parent.name)] = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    found = [ancestor]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found[1:]
