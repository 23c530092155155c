"""Have a job done where it can harm nobody, and take what comes back as bytes that nobody vouches for.

This is the trusted side. What crosses the border, both ways, is ``plain.pack``: tensors and JSON.
"""

import contextlib
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from transformer_lab.course.jail import delete_tree, framing
from transformer_lab.course.jail.contents import copy_course
from transformer_lab.course.jail.exit_reasons import ending
from transformer_lab.course.jail.interpreter import Interpreter
from transformer_lab.course.jail.limits import Limits
from transformer_lab.course.running.plain_data import NotPlainData, pack, unpack


@dataclass(frozen=True)
class Outcome:
    """What came of a job.

    Args:
        answer: What the worker answered, or None if there is no readable answer.
        how: How its process ended, as ``endings.in_words`` takes it.
        seconds: How long it took.
    """

    answer: dict[str, Any] | None
    how: str
    seconds: float


class Jail:
    """A place to run learners' code in; use it in a ``with`` block.

    Args:
        limits: What each job may use.
        forks: Whether one process that has imported torch forks others for each job. The alternative is a fresh
            process each, seconds slower: for systems where torch should not be forked.

    Attributes:
        guards: What guards the machine from learners' code beyond the limits, as ``confine.confine`` tells it.

    Raises:
        JailBroken: It cannot be set up.
    """

    def __init__(self, limits: Limits, forks: bool = sys.platform == "linux") -> None:
        self.limits = limits
        self.forks = forks
        self.guards: dict[str, Any] = {}
        self._inside: Interpreter | None = None

    def __enter__(self) -> "Jail":
        self._folder = Path(tempfile.mkdtemp(prefix="transformer-lab-jail-"))
        self._folder.chmod(0o711)  # whoever runs there has to pass through
        try:
            copy_course(self._folder / "course")
            (self._folder / "work").mkdir(mode=0o711)
            self.guards = self._started().guards
        except BaseException:
            self.__exit__(None, None, None)
            raise
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stop()
        delete_tree.remove(str(self._folder))

    def run(self, job: dict[str, Any]) -> Outcome:
        """Do one job; whatever goes wrong in it is told in the outcome."""
        inside = self._started()
        request = pack({"limits": asdict(self.limits), "job": job})
        started = time.monotonic()
        how, data = self._ask(inside, request) if self.forks else self._ask_once(inside, request)
        seconds = time.monotonic() - started
        if how == "exit 0":
            with contextlib.suppress(NotPlainData):
                if isinstance(answer := unpack(data), dict):
                    return Outcome(answer, how, seconds)
        return Outcome(None, how, seconds)

    def _ask(self, inside: Interpreter, request: bytes) -> tuple[str, bytes]:
        """Let a keeper do it, and say how the child ended."""
        try:
            inside.send(framing.ANNOUNCEMENT, request)
            # The keeper keeps the time; only if it is kept from doing so is it ended itself.
            how = inside.receive(self.limits.patience + 30, 1 << 10).decode(errors="replace")
            return how, inside.receive(self.limits.patience + 30, self.limits.answer_mb << 20)
        except (framing.Broken, TimeoutError):
            self._stop()
            return "keeper", b""

    def _ask_once(self, inside: Interpreter, request: bytes) -> tuple[str, bytes]:
        """Let a process do it that is good for this one job."""
        try:
            inside.send(framing.ANNOUNCEMENT, request)
            return "exit 0", inside.receive(self.limits.patience, self.limits.answer_mb << 20)
        except TimeoutError:
            return "time", b""
        except framing.Broken:
            with contextlib.suppress(subprocess.TimeoutExpired):  # it closed the pipe, and went on
                return ending(inside.process.wait(timeout=self.limits.patience)), b""
            return "time", b""
        finally:
            self._stop()

    def _started(self) -> Interpreter:
        self._inside = self._inside or Interpreter(self._folder, self.forks)
        return self._inside

    def _stop(self) -> None:
        if self._inside is not None:
            self._inside.stop()
            self._inside = None
