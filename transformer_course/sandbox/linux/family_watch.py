"""Watch the total memory of all processes in a job, and the size of their deleted but open files.

A control group and a private file system limit both totals if the system supports them. Otherwise, only each single
process has limits, and many processes could use many times the limit, so the totals are checked ten times per second.
"""

import contextlib
import math
import os
import re
import stat
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from transformer_course.sandbox.resource_limits import Limits

CHECK_INTERVAL_S = 0.1


class MemoryWatch:
    """A limit on the total memory of the descendants of this process.

    A page that several processes share counts once. Pages of Python and torch that a fork shares with this process do
    not count. A program started with ``exec`` shares no pages with this process, so all of its memory counts.

    Args:
        limits: The limits of the job.
        is_needed: Whether to check at all; if False, the limit never counts as exceeded.
    """

    def __init__(self, limits: Limits, is_needed: bool) -> None:
        self._limit = limits.memory_mb << 20
        self._own = _resident("self") if is_needed and sys.platform == "linux" else 0
        self._next_check = time.monotonic() if self._own else math.inf

    def is_exceeded(self) -> bool:
        """Return whether the descendants exceed the limit; most calls return False without a check."""
        if time.monotonic() < self._next_check:
            return False
        processes = [*family()]
        # The quick sum counts shared pages several times, so it is never below the exact sum.
        exceeded = sum(map(_resident, processes)) > self._limit and self._exact(processes) > self._limit
        self._next_check = time.monotonic() + CHECK_INTERVAL_S
        return exceeded

    def _exact(self, processes: Sequence[str]) -> int:
        sizes = [_proportional_and_private(process) for process in processes]
        proportional, private = sum(pss for pss, _ in sizes), sum(own for _, own in sizes)
        return proportional - min(self._own, proportional - private)


def family() -> Iterator[str]:
    """Yield the process ids of all descendants of this process, from ``/proc``."""
    waiting = ["self"]
    while waiting:
        found: list[str] = []
        threads = f"/proc/{waiting.pop()}/task"  # a string, because Path is slow and this runs often
        with contextlib.suppress(OSError):  # the process has ended
            for thread in os.listdir(threads):
                with contextlib.suppress(OSError), open(f"{threads}/{thread}/children") as children:
                    found += children.read().split()
        waiting += found
        yield from found


def deleted_bytes() -> int:
    """Return the total size of deleted files that descendants of this process still hold open."""
    found = {}
    for process in family():
        with contextlib.suppress(OSError):
            for handle in Path("/proc", process, "fd").iterdir():
                with contextlib.suppress(OSError):
                    file = os.stat(handle)
                    if stat.S_ISREG(file.st_mode) and not file.st_nlink:
                        found[file.st_dev, file.st_ino] = 512 * file.st_blocks
    return sum(found.values())


def _resident(process: str) -> int:
    try:
        with open(f"/proc/{process}/statm") as sizes:
            return int(sizes.read().split()[1]) * os.sysconf("SC_PAGESIZE")
    except (OSError, IndexError):  # the process has ended
        return 0


def _proportional_and_private(process: str) -> tuple[int, int]:
    """Return a process's proportional memory (a page shared by n processes counts 1/n) and private memory, in bytes."""
    try:
        text = Path("/proc", process, "smaps_rollup").read_text()
    except OSError:  # the process has ended
        return 0, 0
    sizes = {name: int(kb) << 10 for name, kb in re.findall(r"^(\w+): +(\d+) kB$", text, re.MULTILINE)}
    return sizes.get("Pss", 0), sizes.get("Private_Clean", 0) + sizes.get("Private_Dirty", 0)
