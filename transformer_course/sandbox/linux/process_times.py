"""Measure how long a child process used a CPU, and how long it waited for a CPU."""

import contextlib
import os
import re
import sys
import time
from pathlib import Path

from transformer_course.sandbox.linux.family_watch import family

_NUMBER = re.compile(r"^Pid:\s*(\d+)$", re.MULTILINE)


def cpu_seconds(process: int) -> float:
    """Return the CPU time of a child process in seconds (``man 3 clock_getcpuclockid``)."""
    try:
        return time.clock_gettime(~process << 3 | 2)
    except OSError:  # the process has ended
        return 0.0


def delay_seconds(process: int) -> float:
    """Return the seconds that the first thread of this process or a child waited for a CPU.

    This is the second number in ``/proc/PID/schedstat`` (kernel.org, "Scheduler Statistics"). If the system does not
    report it, the result is 0.
    """
    if sys.platform != "linux":
        return 0.0
    try:
        handle = os.pidfd_open(process)
        try:  # /proc may belong to an outer namespace with a different process id
            text = Path(f"/proc/self/fdinfo/{handle}").read_text()
        finally:
            os.close(handle)
        numbers = _NUMBER.findall(text)
        return int(Path("/proc", *numbers, "schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def seconds_of_family() -> float:
    """Return the CPU time of all descendants of this process, including ended children that a descendant waited for."""
    ticks = 0
    for process in family():
        with contextlib.suppress(OSError, IndexError, ValueError):  # the process has ended
            fields = Path("/proc", process, "stat").read_text(errors="replace").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime: ``man 5 proc_pid_stat``
    return ticks / os.sysconf("SC_CLK_TCK")


def seconds_of_ended_children() -> float:
    """Return the CPU time of all ended children of this process and their descendants (``man 2 getrusage``).

    The result excludes processes that a child never waited for, unless this process adopted them.
    """
    import resource  # not available on Windows

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
