"""A fresh Python that sees the jail's copy of the course instead of this one, and the pipes to and from it."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, BinaryIO, TypeVar, cast

from transformer_lab.course.jail import framing

T = TypeVar("T")

START_SECONDS = 120.0
"""How long importing torch may take on a cold and busy machine."""
KEPT_VARIABLES = ("LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "SYSTEMROOT", "TEMP", "TMP")
SET_VARIABLES = {"OMP_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "PYTHONUTF8": "1"}  # each run is like the last


class JailBroken(OSError):
    """The jail itself does not work."""


class Interpreter:
    """The process that runs ``fork_server.main``.

    Args:
        folder: The jail's folder: the ``course`` is in it, and a place to ``work``.
        forks: Whether it is to fork others for each job.

    Attributes:
        process: The process itself.
        guards: What it said about itself when it was ready.

    Raises:
        JailBroken: It does not start.
    """

    def __init__(self, folder: Path, forks: bool) -> None:
        course, work = str(folder / "course"), str(folder / "work")
        # Python's own finders look into folders; that of an editable installation would find all of the course.
        own_finders = "[finder for finder in sys.meta_path if finder.__module__.startswith('_frozen_importlib')]"
        code = (
            f"import sys; sys.meta_path[:] = {own_finders}; sys.path.insert(0, {course!r}); "
            "from transformer_lab.course.jail import fork_server"
        )
        environment = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
        with (folder / "said").open("wb") as said:
            self.process = subprocess.Popen(
                [sys.executable, "-P", "-s", "-c", f"{code}; fork_server.main({work!r}, {forks})"],
                bufsize=0,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=said,
                cwd=folder,
                env=environment | SET_VARIABLES,
                start_new_session=True,
            )
        try:
            self.guards: dict[str, Any] = json.loads(self.receive(START_SECONDS, 1 << 10))
        except (framing.Broken, TimeoutError):
            self.stop()
            lines = (folder / "said").read_text("utf-8", "replace").strip().splitlines()
            raise JailBroken(f"the jail does not start: {lines[-1] if lines else 'it says nothing'}") from None
        except BaseException:
            self.stop()
            raise

    def send(self, *payloads: bytes) -> None:
        """Send frames.

        Raises:
            TimeoutError: Nobody takes them.
            Broken: Nobody is there.
        """
        pipe = cast(BinaryIO, self.process.stdin)
        for payload in payloads:
            _within(START_SECONDS, partial(framing.send, pipe, payload))

    def receive(self, seconds: float, at_most: int) -> bytes:
        """Wait for a frame of at most so many bytes.

        Raises:
            TimeoutError: None comes.
            Broken: It breaks off, or is larger.
        """
        pipe = cast(BinaryIO, self.process.stdout)
        return _within(seconds, lambda: framing.receive(pipe, at_most))

    def stop(self) -> None:
        """End the process and all of its group."""
        if sys.platform != "win32":
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.kill()
        self.process.wait()
        for pipe in (self.process.stdin, self.process.stdout):
            cast(BinaryIO, pipe).close()


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
        raise framing.Broken(str(result)) from result
    if isinstance(result, Exception):
        raise result
    return result
