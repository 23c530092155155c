"""Start a fresh Python process, connected by pipes, that can import only the sandbox's copy of the course."""

import contextlib
import json
import os
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO, TypeVar, cast

from transformer_course.sandbox import framing

T = TypeVar("T")

START_TIMEOUT_S = 120.0
"""Time limit in seconds for importing torch on a cold and busy machine."""
INHERITED_VARIABLES = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TEMP", "TMP")
FIXED_VARIABLES = {
    "OMP_NUM_THREADS": "1",
    "PYTHONHASHSEED": "0",
    "PYTHONUTF8": "1",
    "MALLOC_ARENA_MAX": "1",  # otherwise, each thread reserves 64 MB of the limited address space
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",  # copying the page table takes a third of a fork; larger pages help
}
"""Environment variables that make all runs reproducible."""


class SandboxError(OSError):
    """The sandbox itself failed."""


class Interpreter:
    """The process that runs ``fork_server.main``. It starts immediately; reading ``guards`` waits until it is ready.

    Args:
        folder: The sandbox's folder, which contains ``course`` and an empty folder ``work``.
        forks: Whether the process forks a supervisor for each job.
        python: The command that starts Python; by default, the current interpreter.
        environment: The command's environment variables; by default, only the variables that Python needs.

    Attributes:
        process: The Python process.
        notebook: The cells of the notebook whose supervisor waits for more jobs, or None.
    """

    notebook: Sequence[Mapping[str, str]] | None = None

    def __init__(
        self,
        folder: Path,
        forks: bool,
        python: Sequence[str] = (sys.executable,),
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._folder = folder
        course, work = str(folder / "course"), str(folder / "work")
        # Keep only Python's own finders, because the finder of an editable install would find the whole course.
        own_finders = "[finder for finder in sys.meta_path if finder.__module__.startswith('_frozen_importlib')]"
        code = (
            "import gc, sys; gc.disable(); "  # garbage collection takes a tenth of the import time
            f"sys.meta_path[:] = {own_finders}; sys.path.insert(0, {course!r}); "
            "from transformer_course.sandbox import fork_server"
        )
        inherited = {name: os.environ[name] for name in INHERITED_VARIABLES if name in os.environ}
        with (folder / "stderr").open("wb") as stderr:
            self.process = subprocess.Popen(
                [*python, "-P", "-s", "-c", f"{code}; fork_server.main({work!r}, {forks})"],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                cwd=folder,
                env=inherited | FIXED_VARIABLES if environment is None else environment,
                start_new_session=True,
            )
        if sys.platform != "win32":
            # Otherwise, a write waits until everything is read.
            os.set_blocking(cast(BinaryIO, self.process.stdin).fileno(), False)

    @cached_property
    def guards(self) -> dict[str, Any]:
        """The guards that the process reports when it is ready, from ``confine.confine``.

        Raises:
            SandboxError: The process does not start.
        """
        try:
            guards: dict[str, Any] = json.loads(self.receive(START_TIMEOUT_S, 1 << 10))
            return guards
        except (framing.BrokenFrame, TimeoutError):
            self.stop()
            lines = (self._folder / "stderr").read_text("utf-8", "replace").strip().splitlines()
            raise SandboxError(f"could not start the sandbox: {lines[-1] if lines else 'no output'}") from None
        except BaseException:
            self.stop()
            raise

    def send(self, *payloads: bytes) -> None:
        """Send frames.

        Raises:
            TimeoutError: The process does not read the frames.
            BrokenFrame: The process has ended.
        """
        pipe = cast(BinaryIO, self.process.stdin)
        for payload in payloads:
            _with_timeout(START_TIMEOUT_S, partial(framing.send, payload=payload), pipe)

    def receive(self, seconds: float, max_bytes: int) -> bytes:
        """Wait for a frame and return it.

        Raises:
            TimeoutError: No frame arrived within ``seconds``.
            BrokenFrame: The frame is incomplete, or is longer than ``max_bytes``.
        """
        pipe = cast(BinaryIO, self.process.stdout)
        return _with_timeout(seconds, partial(framing.receive, max_bytes=max_bytes), pipe)

    def stop(self) -> None:
        """Kill the process and its process group."""
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        self.close_pipes()

    def close_pipes(self) -> None:
        """Close this side's ends of the pipes."""
        for pipe in (self.process.stdin, self.process.stdout):
            cast(BinaryIO, pipe).close()


def _with_timeout(seconds: float, act: Callable[[BinaryIO], T], pipe: BinaryIO) -> T:
    """Call a function that reads or writes a pipe, which may block forever, and return its result.

    Raises:
        TimeoutError: The function did not return within ``seconds``.
        BrokenFrame: The pipe is broken.
        SandboxError: The system has no threads left. This happens only on Windows, which cannot wait for pipes.
    """
    try:
        if sys.platform == "win32":
            return _in_thread(seconds, partial(act, pipe))
        return act(cast(BinaryIO, _TimedPipe(pipe, seconds)))
    except (TimeoutError, SandboxError):
        raise
    except OSError as error:
        raise framing.BrokenFrame(str(error)) from error


class _TimedPipe:
    """A pipe with a time limit for reading and writing, which is faster than a thread for each message.

    Args:
        pipe: This side's end of the pipe.
        seconds: The time limit in seconds.
    """

    def __init__(self, pipe: BinaryIO, seconds: float) -> None:
        self._pipe, self._deadline = pipe, time.monotonic() + seconds

    def read(self, size: int) -> bytes:
        """Return up to ``size`` bytes, or no bytes at the end of the stream.

        Raises:
            TimeoutError: Nothing arrived in time.
        """
        self._wait(select.POLLIN)
        return self._pipe.read(size)

    def write(self, payload: memoryview) -> int:
        """Write as much as the pipe accepts without blocking, and return the number of bytes.

        Raises:
            TimeoutError: The pipe accepted nothing in time.
        """
        self._wait(select.POLLOUT)
        return self._pipe.write(payload) or 0

    def _wait(self, event: int) -> None:
        poll = select.poll()
        poll.register(self._pipe, event)
        if not poll.poll(max(0.0, 1000 * (self._deadline - time.monotonic()))):
            raise TimeoutError


def _in_thread(seconds: float, act: Callable[[], T]) -> T:
    results: SimpleQueue[T | Exception] = SimpleQueue()

    def wait() -> None:
        try:
            results.put(act())
        except Exception as error:
            results.put(error)

    try:
        threading.Thread(target=wait, daemon=True).start()
    except RuntimeError as error:
        raise SandboxError(f"cannot start another thread: {error}") from None
    try:
        result = results.get(timeout=seconds)
    except Empty:
        raise TimeoutError from None
    if isinstance(result, Exception):
        raise result
    return result
