"""Isolate a job from other processes and from the network with namespaces, if an unprivileged user may create them.

Unlike root, an unprivileged user cannot run a job under a separate user id. But in a separate process namespace, a job
cannot access other processes, and all of its processes end with the namespace's first process, however fast the job
forks (``man 7 namespaces``).
"""

import ctypes
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from transformer_course.sandbox.linux.process_settings import DIE_WITH_PARENT, DUMPABLE, prctl

NEW_USER, NEW_PROCESSES, NEW_NETWORK, NEW_IPC, NEW_HOST_NAME, NEW_MOUNTS = (1 << n for n in (28, 29, 30, 27, 26, 17))
"""``CLONE_NEW*`` from linux/sched.h. Only a user namespace needs no privileges; inside it, any kind is permitted."""

is_inside = False
"""Whether this process is in separate namespaces."""


def are_possible() -> bool:
    """Return whether to try namespaces. Root uses separate users instead, and systems other than Linux have neither."""
    return sys.platform == "linux" and os.geteuid() != 0


def run_inside(act: Callable[[], object]) -> None:
    """Call a function in the first process of new namespaces, and wait until all processes in them have ended.

    Raises:
        OSError: The system does not permit new namespaces.
        SystemExit: The process failed.
    """
    _enter()
    process = os.fork()
    if process == 0:
        try:
            prctl(DIE_WITH_PARENT, signal.SIGKILL)
            act()
            os._exit(0)
        finally:
            os._exit(1)
    if os.waitpid(process, 0)[1] != 0:
        raise SystemExit(1)


def _enter() -> None:
    """Move this process into a new user namespace with the same user, and its children into all new namespaces."""
    global is_inside
    uid, gid = os.geteuid(), os.getegid()
    prctl(DUMPABLE, 1)  # otherwise, root owns the files written below
    unshare(NEW_USER | NEW_PROCESSES | NEW_NETWORK | NEW_IPC | NEW_HOST_NAME | NEW_MOUNTS)
    for file, text in {"setgroups": "deny", "uid_map": f"{uid} {uid} 1", "gid_map": f"{gid} {gid} 1"}.items():
        Path("/proc/self", file).write_text(text)
    prctl(DUMPABLE, 0)
    is_inside = True


def unshare(kinds: int) -> None:
    """Move this process into new namespaces of these kinds.

    Raises:
        OSError: The system does not permit new namespaces.
    """
    if ctypes.CDLL(None, use_errno=True).unshare(kinds) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
