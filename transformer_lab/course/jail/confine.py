"""Give up rights, in the jail's process itself, before it meets the learner's code."""

import contextlib
import ctypes
import math
import os
import signal
import site
import sys
from pathlib import Path
from typing import Any

from transformer_lab.course.jail import landlock, seccomp
from transformer_lab.course.jail.limits import Limits

FIRST_USER = 1_879_048_192
"""From here on no system gives ids to anybody (systemd.io/UIDS-GIDS); a process's own number is added."""
NO_NEW_PRIVILEGES, KEEP_CAPABILITIES, DIE_WITH_PARENT, DUMPABLE, SUBREAPER = 38, 8, 1, 4, 36  # man 2 prctl
NO_GUARDS = {"own_user": False, "landlock": 0, "seccomp": False}
READ_EVERYTHING = 1 << 2  # CAP_DAC_READ_SEARCH
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime")
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def confine(limits: Limits, folder: str) -> dict[str, Any]:
    """Leave this process, for good, what its limits and its own empty folder allow.

    Returns:
        What guards the rest of the machine from it, beyond limits: whether it became a user of its own
        (``own_user``), the version of ``landlock`` that holds it, and whether ``seccomp`` does.
    """
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR=folder)
    bounds = {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": math.ceil(limits.patience) + 1,
        "RLIMIT_FSIZE": limits.file_mb << 20,
        "RLIMIT_NOFILE": limits.open_files,
    }
    guards: dict[str, Any] = dict(NO_GUARDS)
    if sys.platform == "linux":
        _be_the_first_to_go()
        mapped = int(Path("/proc/self/statm").read_text().split()[0]) * os.sysconf("SC_PAGESIZE")
        bounds["RLIMIT_AS"] = mapped + (limits.memory_mb << 20)
        running = _tasks_of_this_user()
        guards["own_user"] = become_nobody(os.getpid(), folder)
        bounds["RLIMIT_NPROC"] = limits.processes + (0 if guards["own_user"] else running)
        prctl(DIE_WITH_PARENT, signal.SIGKILL)
        prctl(NO_NEW_PRIVILEGES, 1)
        guards["landlock"] = landlock.version()
        if guards["landlock"]:
            landlock.confine(readable=[*_python(), *DEVICES], writable=[folder, "/dev/null"])
        guards["seccomp"] = seccomp.close_doors()
    if sys.platform != "win32":
        import resource

        for name, most in bounds.items():
            with contextlib.suppress(OSError, ValueError):  # already lower, or not to be had on this system
                resource.setrlimit(getattr(resource, name), (most, most))
    return guards


def _be_the_first_to_go() -> None:
    """Where memory runs out, let Linux end this process, and none of the innocent ones."""
    prctl(DUMPABLE, 1)  # else its files in /proc are root's
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def user_for(pid: int) -> int:
    """Choose the user that a process becomes: no two at the same time are the same."""
    return FIRST_USER + pid


def become_nobody(pid: int, folder: str) -> bool:
    """Become a user that nobody else is; whoever is not root, or is alone in a container, stays who they are.

    A Python that lies where only root can read (as in ``/root``) still has to be read: then the right to read
    anything is kept, and it is left to Landlock to narrow it.
    """
    if os.geteuid() != 0:
        return False
    user = user_for(pid)
    needed = [path for path in (*_python(), os.__file__) if os.path.exists(path)]
    try:
        os.chown(folder, user, user)
        prctl(KEEP_CAPABILITIES, 1)
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
    except OSError:  # a container that knows no other users
        _set_capabilities(0)
        return False
    _set_capabilities(0 if all(os.access(path, os.R_OK) for path in needed) else READ_EVERYTHING)
    return True


def _python() -> list[str]:
    """List where Python and its packages are; the course itself is in none but the jail's own copy."""
    folders = {sys.prefix, sys.base_prefix, *site.getsitepackages(), *sys.path, "/usr", "/lib", "/lib64", *SYSTEM_FILES}
    return sorted(str(Path(folder).resolve()) for folder in folders if folder)


def _tasks_of_this_user() -> int:
    """Count the threads this user runs already: the system's limit counts them all."""
    count = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            count += len(os.listdir(folder / "task")) if folder.stat().st_uid == os.geteuid() else 0
    return count


def prctl(option: int, value: int) -> None:
    """Ask Linux for a change to this process."""
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}, {value})")


def _set_capabilities(wanted: int) -> None:
    """Keep these of root's rights and no others."""
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    data = (ctypes.c_uint32 * 6)(wanted, wanted, 0, 0, 0, 0)  # effective, permitted, inheritable; twice 32 bits
    if ctypes.CDLL(None, use_errno=True).capset(header, data) != 0:
        raise OSError(ctypes.get_errno(), f"capset({wanted})")
