"""Run a job in the sandbox, and treat its answer as untrusted bytes.

This module runs on the trusted side. What crosses the border, both ways, is ``plain_data.pack``: tensors and JSON.
It imports torch only once there is a job: a sandbox can be started before, and imports it meanwhile.
"""

import contextlib
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from filelock import lock_descriptor

from transformer_course.sandbox import framing
from transformer_course.sandbox.container import Container
from transformer_course.sandbox.copied_code import copy_course
from transformer_course.sandbox.delete_tree import delete_tree
from transformer_course.sandbox.exit_reasons import exit_reason
from transformer_course.sandbox.interpreter import FIXED_VARIABLES, Interpreter, SandboxError
from transformer_course.sandbox.resource_limits import SUPERVISOR_TIMEOUT_S, Limits
from transformer_course.sandbox.trace_conversation import Conversation

START_GRACE_S = 60.0
"""A sandbox's folder that is older than this, and has no lock, has nobody who is about to make one."""
FOLDER_PREFIX = "transformer-course-sandbox-"


@dataclass(frozen=True)
class Outcome:
    """Result of a job.

    Args:
        answer: What ``run_job`` returned, or None if there is no readable answer.
        reason: Why its process ended, as ``explain_exit`` takes it.
        seconds: Wall-clock time that it took.
        waited: Seconds of them for which other programs had the processors.
    """

    answer: dict[str, Any] | None
    reason: str
    seconds: float
    waited: float = 0.0

    @property
    def cost(self) -> float:
        """Seconds that it took of its own: those of others cost it nothing."""
        return self.seconds - self.waited


class Sandbox:
    """The sandbox that learners' code runs in; a context manager.

    Args:
        limits: Resource limits of each job.
        forks: Whether a fork server, which has imported torch, forks a process for each job. The alternative is a
            fresh process for each, seconds slower: for systems where torch should not be forked.
        container: The container to run all of it in; there, processes are always forked.

    Attributes:
        guards: The guards that protect the machine beyond the limits, as ``confine.NO_GUARDS`` lists them; and the tool
            of the ``container``, if it is in one.
        folder: The sandbox's own folder while it is open, else None.

    Raises:
        SandboxError: The sandbox does not start.
    """

    def __init__(
        self, limits: Limits, forks: bool = sys.platform == "linux", container: Container | None = None
    ) -> None:
        self.limits = limits
        self.forks = forks or container is not None
        self.container = container
        self.guards: dict[str, Any] = {}
        self.folder: Path | None = None
        self._interpreter: Interpreter | None = None
        self._lock: IO[bytes] | None = None

    def start(self) -> None:
        """Start its process, which takes seconds to be ready; ``with`` waits for that.

        Raises:
            SandboxError: It cannot be started.
        """
        remove_dead_sandboxes()
        self.folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
        self.folder.chmod(0o711)  # the users that jobs run as have to pass through
        with self._closed_on_error():
            self._lock = (self.folder / "lock").open("wb")
            lock_descriptor(self._lock.fileno(), blocking=False)
            copy_course(self.folder / "course")
            (self.folder / "work").mkdir(mode=0o711)
            (self.folder / framing.LIBRARY_FOLDER).mkdir(mode=0o700)
            if self.container:
                self.container.prepare()
            self._interpreter = self._new_interpreter(self.folder)

    def __enter__(self) -> "Sandbox":
        if self.folder is None:
            self.start()
        with self._closed_on_error():
            self.guards = {**self._started().guards, "container": getattr(self.container, "tool", "")}
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def leave_to_child(self) -> None:
        """Leave the sandbox to a process that was forked after it had started: that uses it and removes its folder.

        Only to end the sandbox's process remains for ``close``; it is a child of this one.
        """
        self.folder = None
        if self._interpreter is not None:
            self._interpreter.close_pipes()
        if self._lock is not None:
            self._lock.close()  # the child holds the lock as well
            self._lock = None

    def close(self) -> None:
        """End its process and remove its folder."""
        self._stop()
        if self.folder is not None:
            _delete_sandbox(self.folder)
            self.folder = None
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @contextlib.contextmanager
    def _closed_on_error(self) -> Iterator[None]:
        try:
            yield
        except BaseException as error:
            self.close()
            if isinstance(error, OSError) and not isinstance(error, SandboxError):
                raise SandboxError(str(error)) from error
            raise

    @property
    def process(self) -> subprocess.Popen[bytes] | None:
        """The fork server's process; None while there is none, as between two jobs that are not forked."""
        return self._interpreter.process if self._interpreter else None

    def run(self, job: dict[str, Any], packed: bytes = b"", models: bytes = b"") -> Outcome:
        """Run one job; whatever goes wrong in it is part of the outcome.

        Args:
            job: The job.
            packed: More of the job, as ``pack`` returns it: what is the same for many need not be packed for each.
            models: The descriptions of its models that are only called, packed, for a process beside the job's; empty
                if there are none.

        Raises:
            SandboxError: The sandbox itself does not start again after a job has broken it, or is not open.
        """
        from transformer_course.running.plain_data import NotPlainData, pack, unpack

        interpreter = self._started()
        settings = {"limits": asdict(self.limits), "has_models": bool(models)}
        request = [json.dumps(settings).encode(), pack(self._with_file(job)), packed, *([models] if models else [])]
        request = [*_announced(interpreter, job, is_last=bool(models)), *request]
        started = time.monotonic()
        reason, data = (self._run_supervised if self.forks else self._run_once)(interpreter, request)
        reason, _, waited = reason.partition("\n")
        answer = None
        if reason == "exit 0" and data:
            with contextlib.suppress(NotPlainData):
                answer = unpack(data)  # which takes seconds for millions of small things: they count as the job's
            reason = "exit 0" if isinstance(answer, dict) else "unreadable"
        seconds = time.monotonic() - started
        return Outcome(
            answer if isinstance(answer, dict) else None, reason, seconds, min(float(waited or 0.0), seconds)
        )

    @contextlib.contextmanager
    def conversation(self, job: dict[str, Any], limits: Limits, cpu_seconds: float) -> Iterator[Conversation]:
        """Define an answer, and trace it as often as is asked inside the block, in a process of its own.

        Args:
            job: The job.
            limits: Its limits, for all that is asked together.
            cpu_seconds: Time that its process may compute once the answer is defined. (Linux only; elsewhere, only the
                limits hold.)

        Raises:
            SandboxError: As for ``run``.
        """
        from transformer_course.running.plain_data import pack

        interpreter = self._started()
        seconds = limits.killed_after + SUPERVISOR_TIMEOUT_S if self.forks else limits.kill_after
        talk = Conversation(interpreter, seconds, limits.answer_mb << 20)
        try:
            with contextlib.suppress(framing.BrokenFrame, TimeoutError):
                request = json.dumps({"limits": asdict(limits), "cpu_seconds": cpu_seconds}).encode()
                interpreter.send(*_announced(interpreter, job), request, pack(self._with_file(job)), b"")
            yield talk
        finally:
            if not (talk.end() and self.forks) or talk.reason == b"supervisor":
                self._stop()

    def _with_file(self, job: dict[str, Any]) -> dict[str, Any]:
        """Return a job with the name of a file in place of its library, which only the job's own process is to read.

        A supervisor that had read it could pass on to the next job of the notebook the part that this is to write.
        """
        if "library" not in job:
            return job
        assert self.folder is not None
        text = job["library"].encode()
        file = self.folder / framing.LIBRARY_FOLDER / hashlib.sha256(text).hexdigest()
        if not file.exists():
            file.touch(mode=0o600)
            file.write_bytes(text)
        return {**job, "library": file.name}

    def _run_supervised(self, interpreter: Interpreter, request: Sequence[bytes]) -> tuple[str, bytes]:
        """Have a supervisor run the job; return why the child ended, and its answer."""
        timeout = self.limits.killed_after + SUPERVISOR_TIMEOUT_S
        try:
            interpreter.send(*request)
            reason = interpreter.receive(timeout, 1 << 10).decode(errors="replace")
            answer = interpreter.receive(timeout, self.limits.answer_mb << 20)
        except (framing.BrokenFrame, TimeoutError):
            self._stop()
            return "supervisor", b""
        if reason == "supervisor":
            if request[0] == framing.SAME_NOTEBOOK:
                self._stop()  # it may have ended before the job came, which the fork server cannot tell from a new one
            interpreter.notebook = None
        return reason, answer

    def _run_once(self, interpreter: Interpreter, request: Sequence[bytes]) -> tuple[str, bytes]:
        """Have the interpreter itself run the job, which ends it; return why it ended, and its answer."""
        try:
            interpreter.send(*request)
            return "exit 0", interpreter.receive(self.limits.kill_after, self.limits.answer_mb << 20)
        except TimeoutError:
            return "time", b""
        except framing.BrokenFrame:
            with contextlib.suppress(subprocess.TimeoutExpired):  # it may have closed the pipe and continued
                return exit_reason(interpreter.process.wait(timeout=self.limits.kill_after)), b""
            return "time", b""
        finally:
            self._stop()

    def _started(self) -> Interpreter:
        """Return the interpreter, a new one after a job has broken the last, as soon as it is ready."""
        if self.folder is None:
            raise SandboxError("a sandbox runs jobs only in a `with` block")
        interpreter, self._interpreter = self._interpreter or self._new_interpreter(self.folder), None
        _ = interpreter.guards  # waits for them; one that does not start raises, and is not kept
        self._interpreter = interpreter
        return interpreter

    def _new_interpreter(self, folder: Path) -> Interpreter:
        if self.container is None:
            return Interpreter(folder, self.forks)
        command = self.container.command(folder, self.limits, FIXED_VARIABLES)
        return Interpreter(folder, self.forks, command, os.environ)  # whose HOME the tool needs, and gives nobody

    def _stop(self) -> None:
        if self._interpreter is not None:
            self._interpreter.stop()
            self._interpreter = None
            if self.container and self.folder:
                self.container.remove(self.folder)


def _announced(interpreter: Interpreter, job: Mapping[str, Any], *, is_last: bool = False) -> list[bytes]:
    """Return the frames that go before a job; those of one notebook share a supervisor.

    Args:
        interpreter: Where it goes.
        job: The job.
        is_last: Whether the supervisor takes no other after it.
    """
    before, interpreter.notebook = interpreter.notebook, None if is_last else job["cells"]
    if before == job["cells"]:
        return [framing.SAME_NOTEBOOK]
    return [*([] if before is None else [framing.END_OF_NOTEBOOK]), framing.ANNOUNCEMENT]


def remove_dead_sandboxes() -> None:
    """Delete the folders of sandboxes that were killed before they could: those whose lock nobody holds, or is gone."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError):  # it may belong to another user
            try:
                with (folder / "lock").open("rb") as lock:
                    if lock_descriptor(lock.fileno(), blocking=False):
                        _delete_sandbox(folder, seconds=5.0)
            except FileNotFoundError:
                if time.time() - folder.stat().st_mtime > START_GRACE_S:  # else it may be about to get one
                    delete_tree(str(folder), seconds=5.0)


def _delete_sandbox(folder: Path, seconds: float = math.inf) -> None:
    """Delete a sandbox's folder, its lock last: by it, what is left by a process that is killed here is found later."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            delete_tree(str(path), seconds)
        elif path.name != "lock":
            path.unlink()
    if [path.name for path in folder.iterdir()] == ["lock"]:
        delete_tree(str(folder))
