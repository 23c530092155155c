"""Supervise the jobs of a notebook: run each job in a child process, enforce its limits, and clean up after it."""

import contextlib
import json
import math
import os
import select
import signal
import socket
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from io import FileIO
from pathlib import Path
from typing import Any, BinaryIO, cast

from transformer_course.running import served_models
from transformer_course.running.answer_job import Job, run_job
from transformer_course.running.plain_data import count_numbers, pack, unpack
from transformer_course.running.served_models import ModelServer
from transformer_course.running.trace_job import serve_traces
from transformer_course.sandbox import confine, framing, limit_reports
from transformer_course.sandbox.delete_tree import delete_tree
from transformer_course.sandbox.exit_reasons import exit_reason
from transformer_course.sandbox.linux import control_groups, disk_quota, namespaces, private_root
from transformer_course.sandbox.linux.disk_quota import FolderWatch
from transformer_course.sandbox.linux.family_watch import MemoryWatch
from transformer_course.sandbox.linux.process_settings import SUBREAPER, prctl
from transformer_course.sandbox.linux.process_times import (
    cpu_seconds,
    delay_seconds,
    seconds_of_ended_children,
    seconds_of_family,
)
from transformer_course.sandbox.resource_limits import CLOCK_FACTOR, MAX_JOB_BYTES, Limits

ROOT_FOLDER = "root"
"""The folder, next to the jobs' folders, on which a supervisor mounts the jobs' private root."""
PIPE_BYTES = 4096
"""Number of bytes that a ready pipe accepts without blocking (``PIPE_BUF`` in ``man 7 pipe``)."""


@dataclass(frozen=True)
class Request:
    """A request from the trusted side.

    Args:
        packed: The job in two parts. Only the process that runs the job unpacks them, because unpacking them here would
            copy shared pages of torch's memory.
        limits: The limits of the job.
        cpu_seconds: For a traced job, the limit on its process's CPU time after it has defined the answer; otherwise 0.
        has_models: Whether the job's cases use models that a separate process runs. The models follow in a separate
            frame.
    """

    packed: tuple[bytes, bytes]
    limits: Limits
    cpu_seconds: float = 0.0
    has_models: bool = False

    def job(self, folder: str) -> Job:
        """Return the job for this folder; call this before the process is confined to the folder."""
        own, shared = self.packed
        job = cast(Job, {**unpack(own), **(unpack(shared) if shared else {})})
        job["library"] = Path(folder).parents[1].joinpath(framing.LIBRARY_FOLDER, job["library"]).read_text()
        return job


@dataclass(frozen=True)
class Place:
    """The location of a job.

    Args:
        folder: The job's folder.
        root: The private root from ``private_root.make``, or empty.
    """

    folder: str
    root: str = ""


def supervise(jobs: BinaryIO, answers: BinaryIO, folder: str) -> None:
    """Read the jobs of a notebook, run each in a child process, and send two frames for each job.

    The first frame contains the reason why the child process ended and, on the next line, the seconds during which
    other programs used the CPUs. The second frame contains the job's reply.

    A traced job sends many replies. An empty frame before each reply means that the child has not ended. After the
    reply, the grader sends the next request, or an empty frame to end the job.

    A job with models is always the last job, so that no job is forked from a process that contained the models.

    Args:
        jobs: Pipe from which to read the jobs.
        answers: Pipe for the replies.
        folder: The folder in which each child process gets its own folder.
    """
    prctl(SUBREAPER, 1)
    root = make_private_root(folder)
    is_last = False
    while not is_last:
        request = _receive_job(jobs)
        _supervise(request, jobs, answers, folder, root)
        is_last = request.has_models or framing.receive(jobs, len(framing.SAME_NOTEBOOK)) == framing.END_OF_NOTEBOOK


def make_private_root(folder: str) -> str:
    """Create a private root with Python for the jobs; return "" if the system does not permit it."""
    root = str(Path(folder).with_name(ROOT_FOLDER))
    has_root = sys.platform == "linux" and private_root.make(root, confine.visible_paths())
    return root if has_root else ""


def _supervise(request: Request, jobs: BinaryIO, answers: BinaryIO, folder: str, root: str) -> None:
    own_folder = tempfile.mkdtemp(dir=folder)
    watch = FolderWatch(own_folder, request.limits, is_needed=not disk_quota.mount(own_folder, request.limits))
    if root:
        private_root.bind_folder(root, own_folder)
    place = Place(own_folder, root)
    if request.cpu_seconds:
        (reason, waited), answer = _trace_in_child(request, place, watch, jobs, answers), b""
    else:
        reason, waited, answer = _run_in_child(request, place, watch, jobs)
    if root:
        disk_quota.unmount(root + own_folder)
    disk_quota.unmount(own_folder)
    delete_tree(own_folder, seconds=5.0)  # if this takes longer, closing the sandbox deletes the remaining files
    framing.send(answers, f"{reason}\n{waited:.3f}".encode())
    framing.send(answers, answer)


def run_in_this_process(jobs: BinaryIO, answers: BinaryIO, folder: str) -> None:
    """Read a job, run it in this process, and send its reply or replies."""
    request = _receive_job(jobs)
    own_folder = tempfile.mkdtemp(dir=folder)
    if request.cpu_seconds:
        job = request.job(own_folder)
        confine.confine(request.limits, own_folder)
        receive = partial(framing.receive, jobs, MAX_JOB_BYTES)
        serve_traces(job, receive, partial(_send_trace, answers))
        framing.send(answers, b"exit 0")
        framing.send(answers, b"")
    else:
        if request.has_models:  # without forking, the models run in this process
            served_models.connect(ModelServer(_receive_models(jobs)).answer)
        jobs.close()
        framing.send(answers, _run_confined(request, Place(own_folder)))


def _send_trace(answers: BinaryIO, answer: bytes) -> None:
    framing.send(answers, b"")
    framing.send(answers, answer)


def fork(act: Callable[[], object]) -> int:
    """Fork a child process that calls a function and exits, with status 1 if the function raises an exception.

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


def _receive_job(jobs: BinaryIO) -> Request:
    settings = json.loads(framing.receive(jobs, MAX_JOB_BYTES))
    packed = framing.receive(jobs, MAX_JOB_BYTES), framing.receive(jobs, MAX_JOB_BYTES)
    return Request(
        packed, Limits(**settings["limits"]), settings.get("cpu_seconds", 0.0), settings.get("has_models", False)
    )


def _receive_models(jobs: BinaryIO) -> list[Any]:
    models: list[Any] = unpack(framing.receive(jobs, MAX_JOB_BYTES))
    return models


def _run_confined(request: Request, place: Place) -> bytes:
    """Confine this process, run the job, and return its answer as bytes."""
    job, before_kb = request.job(place.folder), limit_reports.peak_kb()
    try:
        confine.confine(request.limits, place.folder, place.root)
        answer = run_job(job)
    except BaseException as error:
        answer = {"crash": {"type": type(error).__name__, "message": ""}}
    max_bytes = request.limits.answer_mb << 20
    try:
        if count_numbers(answer) > max_bytes:  # packing such a large answer could exhaust memory
            return bytes(max_bytes + 1)
        limit_reports.name_limits(answer, request.limits, (limit_reports.peak_kb() - before_kb) >> 10)
        return pack(answer)
    except BaseException:  # safetensors panics when memory runs out, which is not a MemoryError
        return pack({"crash": {"type": "MemoryError", "message": "there is no memory left to return the result"}})


def _run_in_child(request: Request, place: Place, watch: FolderWatch, jobs: BinaryIO) -> tuple[str, float, bytes]:
    """Run a job in a child process.

    The models of its cases are read after the child is forked, so that the child's memory never contains the models.

    Returns:
        The reason why the process ended, the seconds that it waited for other programs, and its reply.
    """
    limits, begun, computed = request.limits, time.monotonic(), seconds_of_ended_children()
    reading, writing = os.pipe()
    asking, asked = socket.socketpair() if request.has_models else (None, None)
    group = control_groups.make(limits)
    child = fork(lambda: _child_main(request, place, group, writing, asking))
    os.close(writing)
    server = _serve_models(_receive_models(jobs), limits, os.path.dirname(place.folder), asked) if asked else None
    if asking and asked:
        asking.close()
        asked.close()
    try:
        reason, answer = _collect_answer(child, reading, limits, watch, MemoryWatch(limits, is_needed=group is None))
    finally:
        os.close(reading)
        clock = time.monotonic() - begun
        delay = delay_seconds(child) + (delay_seconds(server) if server else 0.0)
        if server:
            os.kill(server, signal.SIGKILL)
            os.waitpid(server, 0)
        code, used_mb = _end(child, group)
        ran_out = control_groups.ran_out_of_memory(group)
        control_groups.remove(group)
    waited = _waited_for_others(clock, delay, seconds_of_ended_children() - computed)
    if reason == "busy" and clock - waited > limits.kill_after:
        reason = "time"  # the job waited for its own processes
    if reason == "time" and limit_reports.is_memory_use_high(used_mb, limits):
        reason = "time and memory"
    return ("memory" if ran_out else exit_reason(code) if reason == "exit" else reason), waited, answer


def _waited_for_others(clock: float, delay: float, computed: float) -> float:
    """Return the seconds that a job waited for programs that it did not start.

    Args:
        clock: Wall-clock seconds of the job.
        delay: Seconds during which the job's first process was ready but another process ran, including processes of
            the job.
        computed: CPU seconds used by all processes in the job.
    """
    return min(delay, max(0.0, clock - computed), clock * (1 - 1 / CLOCK_FACTOR))


def _end(child: int, group: Path | None) -> tuple[int, int]:
    """Kill a child process and all processes that it started; return its exit code and its memory use in MB.

    The system-call filter prevents processes from leaving the child's process group, so a single call kills all of
    them, however fast they fork.
    """
    os.kill(child, signal.SIGKILL)
    with contextlib.suppress(ProcessLookupError):  # the child was killed before it created its process group
        os.killpg(child, signal.SIGKILL)
    control_groups.end(group)
    _, status, usage = os.wait4(child, 0)
    kill_descendants(confine.uid_for(child))
    return os.waitstatus_to_exitcode(status), (usage.ru_maxrss - limit_reports.peak_kb()) >> 10


def _child_main(request: Request, place: Place, group: Path | None, writing: int, asking: socket.socket | None) -> None:
    os.setsid()
    control_groups.join(group)
    _keep_open(writing, *([asking.fileno()] if asking else []))
    if asking:
        asking.detach()
        served_models.connect(partial(_ask, FileIO(4, "r+")))
    with open(3, "wb", buffering=0) as pipe:
        framing.send_raw(pipe, _run_confined(request, place))


def _keep_open(*pipes: int) -> None:
    """Move these pipes to the file descriptors from 3 on, and close all higher descriptors."""
    # Move them to high numbers first, so that they do not overwrite each other.
    high = [os.dup2(pipe, 1 << 8 | number) for number, pipe in enumerate(pipes)]
    for number, pipe in enumerate(high, 3):
        os.dup2(pipe, number)
    os.closerange(3 + len(pipes), 1 << 16)


def _ask(models: BinaryIO, request: bytes) -> bytes:
    framing.send(models, request)
    return framing.receive(models, MAX_JOB_BYTES)


def _serve_models(models: list[Any], limits: Limits, folder: str, asked: socket.socket) -> int:
    """Start a confined process that runs models, and return its process id."""
    own_folder = tempfile.mkdtemp(dir=folder)

    def serve() -> None:
        os.setsid()
        _keep_open(asked.fileno())
        asked.detach()
        server = ModelServer(models)
        confine.confine(limits, own_folder)
        with FileIO(3, "r+") as pipe, contextlib.suppress(framing.BrokenFrame):
            while True:
                framing.send(pipe, server.answer(framing.receive(pipe, limits.answer_mb << 20)))

    return fork(serve)


def _collect_answer(
    child: int, reading: int, limits: Limits, watch: FolderWatch, memory: MemoryWatch
) -> tuple[str, bytes]:
    """Read a child's output until it ends or exceeds a limit on time, disk, memory or output size.

    Returns:
        The reason (``exit``, ``time``, ``busy``, ``disk``, ``memory`` or ``size``), and the output, which is empty
        unless the child exited without being killed.
    """
    answer = bytearray()
    pipe_is_open = True
    begun = time.monotonic()
    while not (timeout_reason := _timeout_reason(child, time.monotonic() - begun, limits)):
        if watch.is_exceeded():
            return "disk", b""
        if memory.is_exceeded():
            return "memory", b""
        ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        ready = pipe_is_open and select.select([reading], [], [], 0 if ended else 0.02)[0]
        if ready:
            chunk = os.read(reading, 1 << 20)
            pipe_is_open = bool(chunk)
            answer += chunk
            if len(answer) > limits.answer_mb << 20:
                return "size", b""
        elif ended:
            return "exit", bytes(answer)
        elif not pipe_is_open:
            time.sleep(0.001)
    return timeout_reason, b""


def _timeout_reason(child: int, clock: float, limits: Limits) -> str:
    """Return ``time`` if a child has used up its time, ``busy`` if other programs used the CPUs, or "".

    Sleeping and waiting for its own processes count toward the child's time. Time during which the child was ready
    while other programs ran does not count, up to a bound. The child's own processes do not count as other programs,
    but this process may be unaware of processes that have already ended.
    """
    late = clock - limits.kill_after
    if late < 0:
        return ""
    waited = min(delay_seconds(child), clock - seconds_of_family())
    max_waited = limits.max_kill_after - limits.kill_after
    return "" if late < min(waited, max_waited) else "time" if waited < max_waited else "busy"


def _trace_in_child(
    request: Request, place: Place, watch: FolderWatch, jobs: BinaryIO, answers: BinaryIO
) -> tuple[str, float]:
    """Answer requests in a child process.

    Returns:
        The reason why the process ended, and the seconds that it waited for other programs.
    """
    begun, computed = time.monotonic(), seconds_of_ended_children()
    (asked, asking), (reading, writing) = os.pipe(), os.pipe()
    group = control_groups.make(request.limits)
    child = fork(lambda: _traced_child_main(request, place, group, writing, asked))
    os.close(writing)
    os.close(asked)
    memory = MemoryWatch(request.limits, is_needed=group is None)
    try:
        reason = _forward_requests(request, child, (watch, memory), (jobs, asking), (reading, answers))
    finally:
        os.close(asking)
        os.close(reading)
        clock, delay = time.monotonic() - begun, delay_seconds(child)
        _end(child, group)
        control_groups.remove(group)
    return reason, _waited_for_others(clock, delay, seconds_of_ended_children() - computed)


def _forward_requests(
    request: Request,
    child: int,
    watches: tuple[FolderWatch, MemoryWatch],
    to_child: tuple[BinaryIO, int],
    from_child: tuple[int, BinaryIO],
) -> str:
    """Forward requests to a child process and its replies to the grader; return the reason why the process ended.

    The time between a reply and the next request does not count toward the child's time.
    """
    (jobs, asking), (reading, answers) = to_child, from_child
    begun, cpu_limit = time.monotonic(), math.inf

    def time_is_up() -> bool:
        return bool(_timeout_reason(child, time.monotonic() - begun, request.limits))

    while True:
        reason, answer = _collect_frame(child, reading, time_is_up, cpu_limit, request.limits.answer_mb << 20, watches)
        if reason:
            return reason
        _send_trace(answers, answer)
        waiting = time.monotonic()
        question = framing.receive(jobs, MAX_JOB_BYTES)
        begun += time.monotonic() - waiting
        if not question:
            return "exit 0"
        if cpu_limit == math.inf:
            cpu_limit = cpu_seconds(child) + request.cpu_seconds
        _write(asking, len(question).to_bytes(framing.LENGTH_BYTES, "big") + question, time_is_up)


def _traced_child_main(request: Request, place: Place, group: Path | None, writing: int, asked: int) -> None:
    os.setsid()
    control_groups.join(group)
    _keep_open(writing, asked)
    with open(3, "wb", buffering=0) as answers, open(4, "rb", buffering=0) as questions:
        job = request.job(place.folder)
        confine.confine(request.limits, place.folder, place.root)
        receive = partial(framing.receive, questions, MAX_JOB_BYTES)
        serve_traces(job, receive, partial(framing.send, answers))


def _collect_frame(
    child: int,
    reading: int,
    time_is_up: Callable[[], bool],
    cpu_limit: float,
    max_bytes: int,
    watches: tuple[FolderWatch, MemoryWatch],
) -> tuple[str, bytes]:
    """Read a frame from a child process.

    Returns:
        An empty string and the frame; or the reason why there is no frame (``exit``, ``time``, ``disk``, ``memory`` or
        ``size``), and empty bytes.
    """
    disk, memory = watches
    received = bytearray()
    length = -1
    while not time_is_up() and cpu_seconds(child) < cpu_limit:
        if disk.is_exceeded():
            return "disk", b""
        if memory.is_exceeded():
            return "memory", b""
        ended = os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
        if not select.select([reading], [], [], 0 if ended else 0.02)[0]:
            if ended:
                return "exit", b""
            continue
        wanted = framing.LENGTH_BYTES if length < 0 else length
        chunk = os.read(reading, min(wanted - len(received), 1 << 20))
        received += chunk
        if not chunk:
            return "exit", b""
        if len(received) == wanted and length < 0:
            length = int.from_bytes(received, "big")
            received.clear()
            if not 0 < length <= max_bytes:
                return "size", b""
        elif len(received) == length:
            return "", bytes(received)
    return "time", b""


def _write(pipe: int, payload: bytes, time_is_up: Callable[[], bool]) -> None:
    """Write to a child process, and give up without an error if it stops reading or runs out of time.

    The caller finds the reason when it waits for the reply.
    """
    rest = memoryview(payload)
    with contextlib.suppress(BrokenPipeError):
        while rest and not time_is_up():
            if select.select([], [pipe], [], 0.02)[1]:
                rest = rest[os.write(pipe, rest[:PIPE_BYTES]) :]


def kill_descendants(uid: int | None = None) -> None:
    """Kill all descendants of this process, including orphans and processes in other process groups.

    Args:
        uid: The user id of all descendants, if no other process has this user id.
    """
    if namespaces.is_inside:  # all other processes in the namespace belong to the job, and one call kills them
        with contextlib.suppress(ProcessLookupError):
            os.kill(-1, signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while True:
                os.waitpid(-1, 0)
        return
    while _has_children() and (descendants := _descendants(os.getpid())):
        if uid is not None and os.geteuid() == 0:
            os.waitpid(fork(lambda: _kill_processes_of(uid)), 0)
        for number in (signal.SIGSTOP, signal.SIGKILL):  # stop all first, so that no process can fork another
            for process in descendants:
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(process, number)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _has_children() -> bool:
    """Return whether this process has children. A subreaper adopts orphans, so no children means no descendants."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def _kill_processes_of(uid: int) -> None:
    """Switch from root to a user, and kill all of the user's processes in one call, however fast they fork."""
    os.setresuid(uid, uid, uid)
    os.kill(-1, signal.SIGKILL)


def _descendants(ancestor: int) -> list[int]:
    """Return the process ids of all descendants of a process, from ``/proc``."""
    parents: dict[int, int] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError, ValueError, IndexError):
            parents[int(stat.parent.name)] = int(stat.read_text(errors="replace").rpartition(")")[2].split()[1])
    family = [ancestor]
    for process in family:  # the list grows while iterating
        family += [child for child, parent in parents.items() if parent == process]
    return family[1:]
