"""How long a child process has computed, and how long it could have if others had not: the kernel measures both."""

import os
import re
import time
from pathlib import Path


def cpu_seconds(process: int) -> float:
    """Return the time that a child process has computed (``man 3 clock_getcpuclockid``)."""
    try:
        return time.clock_gettime(~process << 3 | 2)
    except OSError:  # it has ended
        return 0.0


def delay_seconds(process: int) -> float:
    """Return the time that a child's first thread was ready to run while others had the processors.

    That is the second number in ``/proc/PID/schedstat`` (kernel.org, "Scheduler Statistics"). Where the system does not
    tell, it is 0.
    """
    try:
        handle = os.pidfd_open(process)
        try:  # /proc may be that of an outer namespace, and have another number for it
            told = Path(f"/proc/self/fdinfo/{handle}").read_text()
        finally:
            os.close(handle)
        numbers = re.findall(r"^Pid:\s*(\d+)$", told, re.MULTILINE)
        return int(Path("/proc", *numbers, "schedstat").read_text().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


def seconds_of_ended_children() -> float:
    """Return the time that all ended children of this process, and theirs, have computed (``man 2 getrusage``).

    What a child starts and never waits for is missing, unless this process has inherited it.
    """
    import resource  # which Windows lacks

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
