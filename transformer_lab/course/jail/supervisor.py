"""Supervise one job: run it in a child process, kill it when time is up, and leave nothing of it behind."""

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

from transformer_lab.course.jail import confine, framing
from transformer_lab.course.jail.delete_tree import delete_tree
from transformer_lab.course.jail.exit_reasons import exit_reason
from transformer_lab.course.jail.limits import Limits
from transformer_lab.course.running.job import Job, run_job
from transformer_lab.course.running.plain_data import pack, unpack

MAX_JOB_BYTES = 1 << 30


def supervise(jobs: BinaryIO, answers: BinaryIO, folder: str) -> None:
    """Read a job, run it in a child process, and send two frames: why the child ended, and its answer.

    Args:
        jobs: Pipe that the job comes on.
        answers: Pipe that the two frames go to.
        folder: Where to make the child's own folder.
    """
    job, limits = _receive_job(jobs)
    confine.prctl(confine.SUBREAPER, 1)
    own_folder = tempfile.mkdtemp(dir=folder)
    reason, answer = _run_in_child(job, limits, own_folder)
    delete_tree(own_folder, seconds=5.0)  # when the jail is closed, it deletes what takes longer
    framing.send(answers, reason.encode())
    framing.send(answers, answer)


def run_in_this_process(jobs: BinaryIO, answers: BinaryIO, folder: str) -> None:
    """Read a job, run it in this very process, and send its answer."""
    job, limits = _receive_job(jobs)
    jobs.close()
    framing.send(answers, _run_confined(job, limits, tempfile.mkdtemp(dir=folder)))


def fork(act: Callable[[], object]) -> int:
    """Fork a child process that calls a function and exits, with status 1 if the function raised.

    Returns:
        The child's process id.
    """
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


def _receive_job(jobs: BinaryIO) -> tuple[Job, Limits]:
    request: dict[str, Any] = unpack(framing.receive(jobs, MAX_JOB_BYTES))
    return request["job"], Limits(**request["limits"])


def _run_confined(job: Job, limits: Limits, folder: str) -> bytes:
    """Confine this process, run the job, and return its answer as bytes."""
    try:
        confine.confine(limits, folder)
        answer = run_job(job)
    except BaseException as error:
        answer = {"crash": {"type": type(error).__name__, "message": ""}}
    try:
        return pack(answer)
    except BaseException:  # safetensors panics where memory ends, and a panic is no MemoryError
        return pack({"crash": {"type": "MemoryError", "message": "there is no memory left to give back what it made"}})


def _run_in_child(job: Job, limits: Limits, folder: str) -> tuple[str, bytes]:
    """Run a job in a child process; return why the child ended, and its answer."""
    reading, writing = os.pipe()
    child = fork(lambda: _child_main(job, limits, folder, writing))
    os.close(writing)
    try:
        reason, answer = _collect_answer(child, reading, time.monotonic() + limits.kill_after, limits.answer_mb << 20)
    finally:
        os.close(reading)
        os.kill(child, signal.SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        kill_descendants(confine.uid_for(child))
    return (exit_reason(code) if reason == "exit" else reason), answer


def _child_main(job: Job, limits: Limits, folder: str, writing: int) -> None:
    os.setsid()
    os.dup2(writing, 3)
    os.closerange(4, 1 << 16)
    with open(3, "wb", buffering=0) as pipe:
        framing.send_raw(pipe, _run_confined(job, limits, folder))


def _collect_answer(child: int, reading: int, deadline: float, max_bytes: int) -> tuple[str, bytes]:
    """Read what a child writes until it ends, or until it exceeds its time or size.

    Returns:
        ``exit``, ``time`` or ``size``; and the bytes it wrote, which are empty unless it ended by itself.
    """
    answer = bytearray()
    pipe_is_open = True
    while time.monotonic() < deadline:
        ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        ready = pipe_is_open and select.select([reading], [], [], 0 if ended else 0.02)[0]
        if ready:
            chunk = os.read(reading, 1 << 20)
            pipe_is_open = bool(chunk)
            answer += chunk
            if len(answer) > max_bytes:
                return "size", b""
        elif ended:
            return "exit", bytes(answer)
        elif not pipe_is_open:
            time.sleep(0.001)
    return "time", b""


def kill_descendants(uid: int | None = None) -> None:
    """Kill all descendants of this process, including orphans and those in other process groups.

    Args:
        uid: The user id that all of them have, if it is theirs alone.
    """
    while descendants := _descendants(os.getpid()):  # a subreaper adopts orphans, so these are found as well
        if uid is not None and os.geteuid() == 0:
            os.waitpid(fork(lambda: _kill_processes_of(uid)), 0)
        for number in (signal.SIGSTOP, signal.SIGKILL):  # stopped first, so that none forks while others are killed
            for process in descendants:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _kill_processes_of(uid: int) -> None:
    """Become a user and kill all its processes in one call, which no fork can outrun; only root can."""
    os.setresuid(uid, uid, uid)
    os.kill(-1, signal.SIGKILL)


def _descendants(ancestor: int) -> list[int]:
    """List the process ids of all descendants of a process, from ``/proc``."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parents[int(stat.parent.name)] = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    family = [ancestor]
    for process in family:  # appended to while iterating
        family += [child for child, parent in parents.items() if parent == process]
    return family[1:]
