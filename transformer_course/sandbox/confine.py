"""Drop the privileges of the current process before it runs a learner's code."""

import contextlib
import ctypes
import math
import os
import platform
import signal
import site
import sys
from functools import cache
from pathlib import Path
from typing import Any

from transformer_course.sandbox.linux import landlock, namespaces, private_root, seccomp
from transformer_course.sandbox.linux.process_settings import (
    DIE_WITH_PARENT,
    DUMPABLE,
    KEEP_CAPABILITIES,
    NO_NEW_PRIVILEGES,
    prctl,
)
from transformer_course.sandbox.linux.sealed_memory import seal_memory
from transformer_course.sandbox.resource_limits import Limits

FIRST_UID = 1_879_048_192
"""Start of a range of user ids that no system assigns (systemd.io/UIDS-GIDS). A job's process id is added to it."""
NO_GUARDS = {
    "own_user": False, "namespaces": False, "landlock": 0, "seccomp": False, "own_disk": False, "own_root": False,
    "cgroup": False,
}  # fmt: skip
"""All guards, turned off. ``confine`` sets them, except ``own_disk`` and ``cgroup``, which the supervisor sets."""
CAP_DAC_READ_SEARCH = 1 << 2
"""Capability to read every file (``man 7 capabilities``)."""
COURSE = "transformer_course"
LOW_MEMORY_LIMIT_MB = 128
"""A job with at most this limit tests memory use, so system calls that allocate other memory are blocked."""
PAGES_MAPPED, PAGES_OF_DATA = 0, 5
"""Fields of ``/proc/self/statm``: all mappings, and private writable mappings."""
M_MMAP_THRESHOLD = -3
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/localtime")
DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom")


def confine(limits: Limits, folder: str, root: str = "") -> dict[str, Any]:
    """Restrict this process irrevocably to its limits and to its own empty folder.

    Args:
        limits: Resource limits to set.
        folder: The writable folder, which becomes the working directory and ``HOME``.
        root: The folder of a private root from ``private_root.make``, or empty.

    Returns:
        The guards that protect the machine in addition to the limits: whether the process has a separate user
        (``own_user``), separate ``namespaces`` or a private root (``own_root``), the active version of ``landlock`` (0
        if none), and whether ``seccomp`` is active.

    Raises:
        OSError: A restriction that the system should support failed.
    """
    os.chdir(folder)
    os.environ.update(HOME=folder, TMPDIR=folder)
    bounds = {
        "RLIMIT_CORE": 0,
        "RLIMIT_CPU": math.ceil(limits.kill_after) + 1,
        "RLIMIT_FSIZE": limits.file_mb << 20,
        "RLIMIT_NOFILE": limits.open_files,
    }
    guards: dict[str, Any] = dict(NO_GUARDS)
    if sys.platform == "linux":
        _prefer_for_oom_kill()
        needs_little_memory = limits.memory_mb <= LOW_MEMORY_LIMIT_MB
        if needs_little_memory:
            _return_large_blocks()
            seal_memory()
        pages, page_bytes = Path("/proc/self/statm").read_text().split(), os.sysconf("SC_PAGESIZE")
        bounds["RLIMIT_AS"] = int(pages[PAGES_MAPPED]) * page_bytes + (limits.memory_mb << 20)
        bounds["RLIMIT_DATA"] = int(pages[PAGES_OF_DATA]) * page_bytes + (limits.memory_mb << 20)
        threads = _threads_of_this_user() if os.geteuid() != 0 else 0  # skip the slow count for root
        if root:  # the private root has no /proc, so read all files in /proc before this line
            private_root.enter(root)
            os.chdir(folder)
            guards["own_root"] = True
        guards["own_user"] = switch_to_own_user(os.getpid(), folder)
        guards["namespaces"] = namespaces.is_inside
        if namespaces.is_inside:
            set_capabilities(0)  # the creator of a namespace has all capabilities in it
        bounds["RLIMIT_NPROC"] = limits.processes + threads
        prctl(DIE_WITH_PARENT, signal.SIGKILL)
        prctl(NO_NEW_PRIVILEGES, 1)
        guards["landlock"] = landlock.version()
        if guards["landlock"]:
            readable, listed = _without_answers()
            landlock.restrict_self([*readable, *DEVICES], [folder, "/dev/null"], listed)
        guards["seccomp"] = seccomp.install_filter(single_process=needs_little_memory)
    if sys.platform != "win32":
        import resource

        for name, bound in bounds.items():
            with contextlib.suppress(OSError, ValueError):  # already lower, or not supported by this system
                resource.setrlimit(getattr(resource, name), (bound, bound))
    return guards


def _prefer_for_oom_kill() -> None:
    """Make this process the first that Linux kills when memory runs out."""
    prctl(DUMPABLE, 1)  # otherwise, root owns the process's files in /proc
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text("1000")


def _return_large_blocks() -> None:
    """Make malloc allocate every tensor of more than 128 kB separately, so that freeing a tensor returns its memory.

    Without this setting, memory fragments, and memory usage no longer reflects the size of live tensors: a right answer
    that kept a small result from each block used the same amount of memory as the whole score matrix.
    """
    with contextlib.suppress(AttributeError):  # only glibc has mallopt: ``man 3 mallopt``
        ctypes.CDLL(None).mallopt(M_MMAP_THRESHOLD, 1 << 17)


def uid_for(pid: int) -> int:
    """Return the unique user id to which a process switches."""
    return FIRST_UID + pid


def switch_to_own_user(pid: int, folder: str) -> bool:
    """Switch to a user id that no other process has, if this process is root and the system permits it.

    If only root can read Python's files (as in ``/root``), the process keeps the capability to read all files, and
    Landlock restricts it.

    Args:
        pid: The process id.
        folder: The folder whose owner becomes the new user.

    Returns:
        Whether the process now has a separate user. If root cannot switch users, as in some containers, it stays root
        but drops all capabilities.
    """
    if os.geteuid() != 0:
        return False
    uid = uid_for(pid)
    needed = [path for path in (*_python_paths(), os.__file__) if os.path.exists(path)]
    try:
        os.chown(folder, uid, uid)
        prctl(KEEP_CAPABILITIES, 1)
        os.setgroups([])
        os.setresgid(uid, uid, uid)
        os.setresuid(uid, uid, uid)
    except OSError:  # the container has no other users
        set_capabilities(0)
        return False
    set_capabilities(0 if all(os.access(path, os.R_OK) for path in needed) else CAP_DAC_READ_SEARCH)
    return True


def prepare() -> None:
    """Prepare everything that all jobs share. Call this before forking."""
    _without_answers()
    visible_paths()
    if platform.machine() in seccomp.ARCHITECTURES:
        seccomp.filter_for(platform.machine())


@cache
def visible_paths() -> tuple[str, ...]:
    """Return the paths in a job's private root: Python's own paths and a few system files."""
    links = (path for path in ("/bin", "/sbin", "/lib", "/lib32", "/lib64") if os.path.islink(path))
    named = (sys.prefix, sys.base_prefix, sys.executable, *site.getsitepackages(), *sys.path)
    return (*_python_paths(), *filter(os.path.isabs, named), *links, *SYSTEM_FILES, *DEVICES)


@cache
def _python_paths() -> tuple[str, ...]:
    """Return the folders of Python and its packages, including the sandbox's copy of the course."""
    folders = {sys.prefix, sys.base_prefix, *site.getsitepackages(), *sys.path, "/usr", "/lib", "/lib64", *SYSTEM_FILES}
    return tuple(sorted({str(Path(folder).resolve()) for folder in folders if folder}))


@cache
def _without_answers() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Split ``sys.path`` so that an installed copy of the course, which contains the answers, cannot be read.

    Returns:
        The readable paths, and the folders whose entries may be listed but not read.
    """
    copies = {Path(folder, COURSE).resolve() for folder in (*_python_paths(), *site.getsitepackages(), *sys.path)}
    hidden = {copy for copy in copies if copy.is_dir() and copy != Path(__file__).parents[1].resolve()}
    readable: list[str] = []
    listed: list[str] = []

    def split(path: Path) -> None:
        if path in hidden:
            return
        if not any(copy.is_relative_to(path) for copy in hidden):
            readable.append(str(path))
            return
        listed.append(str(path))
        for entry in path.iterdir():
            if not entry.is_symlink() or entry.resolve() not in hidden:
                split(entry)

    for path in _python_paths():
        split(Path(path))
    return tuple(readable), tuple(listed)


def _threads_of_this_user() -> int:
    """Return this user's current number of threads, which counts toward ``RLIMIT_NPROC``."""
    count = 0
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            count += len(os.listdir(folder / "task")) if folder.stat().st_uid == os.geteuid() else 0
    return count


def set_capabilities(capabilities: int) -> None:
    """Restrict the capabilities of this process.

    Args:
        capabilities: Bit mask of the capabilities to keep; 0 drops all.

    Raises:
        OSError: The system call fails.
    """
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)  # version 3, this process
    # (effective, permitted, inheritable) for the low 32 bits, then for the high 32 bits
    data = (ctypes.c_uint32 * 6)(capabilities, capabilities, 0, 0, 0, 0)
    if ctypes.CDLL(None, use_errno=True).capset(header, data) != 0:
        raise OSError(ctypes.get_errno(), f"capset({capabilities})")
