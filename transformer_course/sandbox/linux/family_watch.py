"""Watch what all processes of a job take together: memory, and files that are open though they have been deleted.

Where the system offers a control group, and a file system of the job's own, those bound it. Elsewhere each process has
limits of its own, and so many processes could take many times as much: so they are looked at ten times a second.
"""

import contextlib
import math
import os
import re
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from transformer_course.sandbox.resource_limits import Limits

CHECK_INTERVAL_S = 0.1


class MemoryWatch:
    """Watches how much memory the descendants of this process take together.

    Args:
        limits: What they may take.
        is_needed: Whether to look at all.
    """

    def __init__(self, limits: Limits, is_needed: bool) -> None:
        self._most = limits.memory_mb << 20
        self._own = _resident("self") if is_needed and sys.platform == "linux" else 0
        self._next_look = time.monotonic() if self._own else math.inf

    def is_exceeded(self) -> bool:
        """Return whether they take more; it looks now and then only."""
        if time.monotonic() < self._next_look:
            return False
        processes = [*family()]
        # What a fork shares with its parent counts for both in the quick sum, and once in the exact one.
        quick = sum(max(0, _resident(process) - self._own) for process in processes)
        exceeded = len(processes) > 1 and quick > self._most and sum(map(_proportional, processes)) > self._most
        self._next_look = time.monotonic() + CHECK_INTERVAL_S
        return exceeded


def family() -> Iterator[str]:
    """Iterate over the numbers of all descendants of this process, as ``/proc`` has them."""
    waiting = ["self"]
    while waiting:
        found: list[str] = []
        threads = f"/proc/{waiting.pop()}/task"  # no Path: each job would compile its pattern anew, and look often
        with contextlib.suppress(OSError):  # it has ended
            for thread in os.listdir(threads):
                with contextlib.suppress(OSError), open(f"{threads}/{thread}/children") as children:
                    found += children.read().split()
        waiting += found
        yield from found


def deleted_bytes() -> int:
    """Return the size of all files that descendants of this process hold open though they have been deleted."""
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
    except (OSError, IndexError):  # it has ended
        return 0


def _proportional(process: str) -> int:
    """Return the memory of a process, in which what n processes share counts as the nth part."""
    try:
        text = Path("/proc", process, "smaps_rollup").read_text()
        return int(re.findall(r"^Pss:\s*(\d+) kB$", text, re.MULTILINE)[0]) << 10
    except (OSError, IndexError):
        return 0
