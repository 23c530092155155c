"""Seal the memory map of this process with ``mseal`` (Linux 6.10), so that the process keeps its initial mappings.

``RLIMIT_AS`` limits the total mapped memory. Without the seal, a process could unmap a part of torch and map other
memory instead.
"""

import ctypes
import re
from pathlib import Path

MSEAL = 462
"""Number of the system call, which is the same on every 64-bit architecture."""


def seal_memory() -> None:
    """Prevent this process from unmapping, moving or replacing its mappings; older kernels ignore the call."""
    libc = ctypes.CDLL(None)
    maps = Path("/proc/self/maps").read_text()
    for start, end in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) .*?(?<!\[stack\])$", maps, re.MULTILINE):
        first, last = int(start, 16), int(end, 16)
        libc.syscall(ctypes.c_long(MSEAL), ctypes.c_ulong(first), ctypes.c_ulong(last - first), ctypes.c_ulong(0))
