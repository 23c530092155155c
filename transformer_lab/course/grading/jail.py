"""Have a job done where it can harm nobody, and take what comes back as bytes that nobody vouches for.

This is the trusted side. What crosses the border, both ways, is ``plain.pack``: tensors and JSON.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from queue import Empty, SimpleQueue
from types import TracebackType
from typing import Any, TypeVar

from transformer_lab.course.grading import frames
from transformer_lab.course.grading.confine import Limits
from transformer_lab.course.grading.copied import copy_course
from transformer_lab.course.plain import NotPlain, pack, unpack

T = TypeVar("T")

START_SECONDS = 120.0
"""How long importing torch may take on a cold and busy machine."""
KEPT_VARIABLES = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TEMP", "TMP")


@dataclass(frozen=True)
class Outcome:
    """What came of a job.

    Args:
        answer: What the worker answered, or None if there is no readable answer.
        how: How the process ended: ``exit 0`` and other statuses, a signal such as ``SIGSEGV``, ``time`` or ``size``
            if it was stopped for taking too much of these, ``nursery`` if it ended or blocked what looks after it.
        seconds: How long it took.
    """

    answer: dict[str, Any] | None
    how: str
    seconds: float


class JailBroken(OSError):
    """The jail itself does not work."""


class Jail:
    """A place to run learners' code in; use it in a ``with`` block.

    Args:
        limits: What each job may use.
        forks: Whether one process that has imported torch forks a child for each job. The alternative is a fresh
            process each, seconds slower: for systems where torch should not be forked.

    Raises:
        JailBroken: It cannot be set up.
    """

    def __init__(self, limits: Limits, forks: bool = sys.platform == "linux") -> None:
        self.limits = limits
        self.forks = forks
        self.protection: dict[str, Any] = {}
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> "Jail":
        self._folder = Path(tempfile.mkdtemp(prefix="transformer-lab-jail-"))
        self._folder.chmod(0o711)  # whoever runs there has to pass through
        copy_course(self._folder / "course")
        (self._folder / "work").mkdir(mode=0o711)
        try:
            self._start()
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def run(self, job: dict[str, Any]) -> Outcome:
        """Do one job; whatever goes wrong in it is told in the outcome."""
        if self._process is None:
            self._start()
        request = pack({"limits": asdict(self.limits), "job": job})
        started = time.monotonic()
        how, data = self._ask(request) if self.forks else self._ask_once(request)
        seconds = time.monotonic() - started
        if how == "exit 0":
            with contextlib.suppress(NotPlain):
                if isinstance(answer := unpack(data), dict):
                    return Outcome(answer, how, seconds)
        return Outcome(None, how, seconds)

    def _ask(self, request: bytes) -> tuple[str, bytes]:
        """Let the nursery do it, and say how the child ended."""
        try:
            self._send(request)
            # The nursery keeps the time; only if it is kept from doing so is it ended itself.
            how = self._receive(self.limits.patience + 30, 1 << 10).decode()
            return how, self._receive(self.limits.patience + 30, self.limits.answer_mb << 20)
        except (frames.Broken, TimeoutError):
            self._stop()
            return "nursery", b""

    def _ask_once(self, request: bytes) -> tuple[str, bytes]:
        """Let a process do it that is good for this one job."""
        assert self._process
        try:
            self._send(request)
            return "exit 0", self._receive(self.limits.patience, self.limits.answer_mb << 20)
        except TimeoutError:
            return "time", b""
        except frames.Broken:
            code = self._process.wait(timeout=10)
            return (f"exit {code}" if code >= 0 else signal.Signals(-code).name), b""
        finally:
            self._stop()

    def _start(self) -> None:
        """Start a fresh interpreter that sees the jail's copy of the course instead of this one."""
        course = str(self._folder / "course")
        code = f"import sys; sys.path.insert(0, {course!r}); from transformer_lab.course.grading import nursery"
        environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", f"{code}; nursery.main({str(self._folder / 'work')!r}, {self.forks})"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=self._folder,
            env={**environment, "OMP_NUM_THREADS": "1", "PYTHONUTF8": "1"},
            start_new_session=True,
        )
        try:
            self.protection = json.loads(self._receive(START_SECONDS, 1 << 10))
        except (frames.Broken, TimeoutError):
            said = self._stop().strip().splitlines()
            raise JailBroken(f"the jail does not start: {said[-1] if said else 'it says nothing'}") from None

    def _stop(self) -> str:
        """End the process and all it started; give what it said on standard error."""
        process, self._process = self._process, None
        if process is None:
            return ""
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        process.kill()
        return process.communicate()[1].decode(errors="replace")

    def _send(self, payload: bytes) -> None:
        assert self._process and self._process.stdin
        stdin = self._process.stdin.fileno()
        _within(START_SECONDS, lambda: frames.send(stdin, payload))

    def _receive(self, seconds: float, at_most: int) -> bytes:
        assert self._process and self._process.stdout
        stdout = self._process.stdout.fileno()
        return _within(seconds, lambda: frames.receive(stdout, at_most))


def _within(seconds: float, act: Callable[[], T]) -> T:
    """Wait for something that may never happen.

    Raises:
        TimeoutError: It did not.
        Broken: The other side is gone.
    """
    results: SimpleQueue[T | Exception] = SimpleQueue()

    def wait() -> None:
        try:
            results.put(act())
        except Exception as error:
            results.put(error)

    threading.Thread(target=wait, daemon=True).start()
    try:
        result = results.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if isinstance(result, OSError):
        raise frames.Broken(str(result)) from result
    if isinstance(result, Exception):
        raise result
    return result
