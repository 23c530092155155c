"""Measure a child process's CPU time, and the time for which it waited for a CPU."""

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
    except OSError:  # it has ended
        return 0.0


def delay_seconds(process: int) -> float:
    """Return the seconds for which the first thread of this process or a child was ready but had no CPU.

    It is the second number in ``/proc/PID/schedstat`` (kernel.org, "Scheduler Statistics"), or 0 if the system does not
    report it.
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
    """Return the CPU time of all descendants of this process, including children that they have waited for."""
    ticks = 0
    for process in family():
        with contextlib.suppress(OSError, IndexError, ValueError):  # it has ended
            fields = Path("/proc", process, "stat").read_text(errors="replace").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime: ``man 5 proc_pid_stat``
    return ticks / os.sysconf("SC_CLK_TCK")


def seconds_of_ended_children() -> float:
    """Return the CPU time of all ended children of this process and their descendants (``man 2 getrusage``).

    Processes that a child never waited for are missing, unless this process has inherited them.
    """
    import resource  # which Windows lacks

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
