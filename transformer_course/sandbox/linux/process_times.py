"""How long a child process has computed, and how long it could have if others had not: the kernel measures both."""

import contextlib
import os
import re
import sys
import time
from pathlib import Path

from transformer_course.sandbox.linux.family_watch import family

_NUMBER = re.compile(r"^Pid:\s*(\d+)$", re.MULTILINE)


def cpu_seconds(process: int) -> float:
    """Return the time that a child process has computed (``man 3 clock_getcpuclockid``)."""
    try:
        return time.clock_gettime(~process << 3 | 2)
    except OSError:  # it has ended
        return 0.0


def delay_seconds(process: int) -> float:
    """Return the time that the first thread of this process, or of a child, was ready while others had the processors.

    That is the second number in ``/proc/PID/schedstat`` (kernel.org, "Scheduler Statistics"). Where the system does not
    tell, it is 0.
    """
    if sys.platform != "linux":
        return 0.0
    try:
        handle = os.pidfd_open(process)
        try:  # /proc may be that of an outer namespace, and have another number for it
            text = Path(f"/proc/self/fdinfo/{handle}").read_text()
        finally:
            os.close(handle)
        numbers = _NUMBER.findall(text)
        return int(Path("/proc", *numbers, "schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def seconds_of_family() -> float:
    """Return the time that all descendants of this process have computed, with those that they have waited for."""
    ticks = 0
    for process in family():
        with contextlib.suppress(OSError, IndexError, ValueError):  # it has ended
            fields = Path("/proc", process, "stat").read_text(errors="replace").rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:15]))  # utime, stime, cutime, cstime: ``man 5 proc_pid_stat``
    return ticks / os.sysconf("SC_CLK_TCK")


def seconds_of_ended_children() -> float:
    """Return the time that all ended children of this process, and theirs, have computed (``man 2 getrusage``).

    What a child starts and never waits for is missing, unless this process has inherited it.
    """
    import resource  # which Windows lacks

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
