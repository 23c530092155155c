"""Run a job in the sandbox, and treat its reply as untrusted bytes.

This module runs on the trusted side. Data in both directions is encoded with ``plain_data.pack``, as tensors and JSON.
The module imports torch only for the first job, so that the sandbox can start first and import torch in parallel.
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
"""Age in seconds after which a sandbox folder without a lock counts as abandoned."""
FOLDER_PREFIX = "transformer-course-sandbox-"


@dataclass(frozen=True)
class Outcome:
    """The result of a job.

    Args:
        answer: The result of ``run_job``, or None if there is no readable reply.
        reason: The reason why the job's process ended, for ``explain_exit``.
        seconds: Wall-clock time in seconds.
        waited: The part of ``seconds`` in which other programs used the CPUs.
    """

    answer: dict[str, Any] | None
    reason: str
    seconds: float
    waited: float = 0.0

    @property
    def cost(self) -> float:
        """Seconds that count toward the limit, excluding the time during which other programs used the CPUs."""
        return self.seconds - self.waited


class Sandbox:
    """A context manager for the sandbox in which learners' code runs.

    Args:
        limits: Resource limits of each job.
        forks: Whether a fork server that has imported torch forks a process for each job. If False, each job runs in a
            fresh process, which takes seconds longer but works on systems where torch must not be forked.
        container: The container to run the sandbox in. In a container, processes are always forked.

    Attributes:
        guards: The active guards of ``confine.NO_GUARDS``, and the tool of the ``container``, if any.
        folder: The sandbox's folder while it is open, otherwise None.

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
        """Start the process without waiting for it, which would take seconds. The ``with`` statement waits for it.

        Raises:
            SandboxError: The process cannot be started.
        """
        remove_dead_sandboxes()
        self.folder = Path(tempfile.mkdtemp(prefix=FOLDER_PREFIX))
        self.folder.chmod(0o711)  # accessible to the users under which jobs run
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
        """Leave the sandbox to a child process forked after the start. The child uses it and deletes its folder.

        Afterwards, ``close`` only ends the sandbox's process, which is a child of the current process.
        """
        self.folder = None
        if self._interpreter is not None:
            self._interpreter.close_pipes()
        if self._lock is not None:
            self._lock.close()  # the child also holds the lock
            self._lock = None

    def close(self) -> None:
        """End the process and remove the folder."""
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
        """The fork server's process, or None if no process is running, for example between two jobs without forking."""
        return self._interpreter.process if self._interpreter else None

    def run(self, job: dict[str, Any], packed: bytes = b"", models: bytes = b"") -> Outcome:
        """Run a job, and return its outcome, which includes any error.

        Args:
            job: The job.
            packed: The packed part of the job that many jobs share.
            models: The packed descriptions of models that run in a separate process, so that the job can only call
                them; empty if there are none.

        Raises:
            SandboxError: The sandbox is not open, or did not restart after a job broke it.
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
                # Unpacking millions of small objects can take seconds, so it is included in the measured time.
                answer = unpack(data)
            reason = "exit 0" if isinstance(answer, dict) else "unreadable"
        seconds = time.monotonic() - started
        return Outcome(
            answer if isinstance(answer, dict) else None, reason, seconds, min(float(waited or 0.0), seconds)
        )

    @contextlib.contextmanager
    def conversation(self, job: dict[str, Any], limits: Limits, cpu_seconds: float) -> Iterator[Conversation]:
        """Define an answer in a separate process, and trace it for each request inside the ``with`` block.

        Args:
            job: The job.
            limits: The limits for the total of all requests.
            cpu_seconds: Limit on the process's CPU time after it has defined the answer. On systems other than Linux,
                only ``limits`` apply.

        Raises:
            SandboxError: The sandbox is not open, or did not restart after a job broke it.
        """
        from transformer_course.running.plain_data import pack

        interpreter = self._started()
        seconds = limits.max_kill_after + SUPERVISOR_TIMEOUT_S if self.forks else limits.kill_after
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
        """Replace the library in a job with the name of a file that only the job's own process reads.

        If the supervisor read the library, the notebook's next job could search its memory for the part that the
        learner has to implement.
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
        """Run a job through a supervisor; return the reason why the child process ended, and its reply."""
        timeout = self.limits.max_kill_after + SUPERVISOR_TIMEOUT_S
        try:
            interpreter.send(*request)
            reason = interpreter.receive(timeout, 1 << 10).decode(errors="replace")
            answer = interpreter.receive(timeout, self.limits.answer_mb << 20)
        except (framing.BrokenFrame, TimeoutError):
            self._stop()
            return "supervisor", b""
        if reason == "supervisor":
            if request[0] == framing.SAME_NOTEBOOK:
                self._stop()  # the supervisor may have ended before the job arrived, unnoticed by the fork server
            interpreter.notebook = None
        return reason, answer

    def _run_once(self, interpreter: Interpreter, request: Sequence[bytes]) -> tuple[str, bytes]:
        """Run a job in the interpreter itself, which then exits; return the reason why it ended, and its reply."""
        try:
            interpreter.send(*request)
            return "exit 0", interpreter.receive(self.limits.kill_after, self.limits.answer_mb << 20)
        except TimeoutError:
            return "time", b""
        except framing.BrokenFrame:
            with contextlib.suppress(subprocess.TimeoutExpired):  # the job may have closed the pipe and kept running
                return exit_reason(interpreter.process.wait(timeout=self.limits.kill_after)), b""
            return "time", b""
        finally:
            self._stop()

    def _started(self) -> Interpreter:
        """Wait until the interpreter is ready, and return it; start a new interpreter if a job broke the old one."""
        if self.folder is None:
            raise SandboxError("the sandbox is not open; run jobs only inside a `with` block")
        interpreter, self._interpreter = self._interpreter or self._new_interpreter(self.folder), None
        _ = interpreter.guards  # waits for the start; if the start fails, the interpreter is not kept
        self._interpreter = interpreter
        return interpreter

    def _new_interpreter(self, folder: Path) -> Interpreter:
        if self.container is None:
            return Interpreter(folder, self.forks)
        command = self.container.command(folder, self.limits, FIXED_VARIABLES)
        return Interpreter(folder, self.forks, command, os.environ)  # the container tool itself needs HOME

    def _stop(self) -> None:
        if self._interpreter is not None:
            self._interpreter.stop()
            self._interpreter = None
            if self.container and self.folder:
                self.container.remove(self.folder)


def _announced(interpreter: Interpreter, job: Mapping[str, Any], *, is_last: bool = False) -> list[bytes]:
    """Return the frames to send before a job, which depend on whether the job belongs to the current notebook.

    Args:
        interpreter: The interpreter that will receive the job.
        job: The job.
        is_last: Whether the supervisor exits after this job.
    """
    before, interpreter.notebook = interpreter.notebook, None if is_last else job["cells"]
    if before == job["cells"]:
        return [framing.SAME_NOTEBOOK]
    return [*([] if before is None else [framing.END_OF_NOTEBOOK]), framing.ANNOUNCEMENT]


def remove_dead_sandboxes() -> None:
    """Delete the folders of killed sandboxes, which contain no lock file, or a lock file that no process holds."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDER_PREFIX}*"):
        with contextlib.suppress(OSError):  # the folder may belong to another user
            try:
                with (folder / "lock").open("rb") as lock:
                    if lock_descriptor(lock.fileno(), blocking=False):
                        _delete_sandbox(folder, seconds=5.0)
            except FileNotFoundError:
                # A newer sandbox may not have created its lock yet.
                if time.time() - folder.stat().st_mtime > START_GRACE_S:
                    delete_tree(str(folder), seconds=5.0)


def _delete_sandbox(folder: Path, seconds: float = math.inf) -> None:
    """Delete a sandbox's folder, and its lock last, so that a later run can finish if this process is killed."""
    for path in folder.iterdir():
        if path.is_dir() and not path.is_symlink():
            delete_tree(str(path), seconds)
        elif path.name != "lock":
            path.unlink()
    if [path.name for path in folder.iterdir()] == ["lock"]:
        delete_tree(str(folder))
