"""Limit the disk use of a job.

If Linux permits it, this module mounts a private in-memory file system for the job. The file system limits the size and
the number of the job's files, and disappears with the job. Without this file system, the supervisor checks the job's
folder ten times per second.
"""

import contextlib
import ctypes
import errno
import math
import os
import sys
import time

from transformer_course.sandbox.linux import namespaces
from transformer_course.sandbox.linux.family_watch import deleted_bytes
from transformer_course.sandbox.resource_limits import Limits

NO_SET_UID, NO_DEVICES, RECURSIVE, PRIVATE, DETACH = 2, 4, 1 << 14, 1 << 18, 2  # man 2 mount, umount
CHECK_INTERVAL_S = 0.1
_has_own_mounts = False


def mount(folder: str, limits: Limits) -> bool:
    """Mount a file system of limited size on a folder, visible only to this process and its children.

    Returns:
        Whether the system permitted the mount.
    """
    if sys.platform != "linux":
        return False
    size = f"size={limits.disk_mb}m,nr_inodes={limits.files},mode=700"
    try:
        enter_own_mounts()
        mount_on("tmpfs", folder, "tmpfs", NO_SET_UID | NO_DEVICES, size)
    except OSError:
        return False
    return True


def enter_own_mounts() -> None:
    """Make this process's mounts invisible to other processes.

    Raises:
        OSError: The system does not permit private mounts.
    """
    global _has_own_mounts
    if _has_own_mounts:
        return
    if not namespaces.is_inside:
        namespaces.unshare(namespaces.NEW_MOUNTS)
    mount_on("none", "/", None, RECURSIVE | PRIVATE, None)
    _has_own_mounts = True


def unmount(folder: str) -> None:
    """Unmount the file system of a folder, if there is one."""
    if sys.platform == "linux":
        ctypes.CDLL(None).umount2(os.fsencode(folder), DETACH)


def mount_on(source: str, target: str, kind: str | None, flags: int, options: str | None) -> None:
    """Call ``mount`` with these arguments (``man 2 mount``).

    Raises:
        OSError: The system does not permit the mount.
    """
    texts = [None if text is None else os.fsencode(text) for text in (source, target, kind, options)]
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(texts[0], texts[1], texts[2], ctypes.c_ulong(flags), texts[3]) != 0:
        raise OSError(ctypes.get_errno(), f"cannot mount {target}")


class FolderWatch:
    """A limit on the size of a folder, including deleted files that a job still holds open.

    Args:
        folder: The folder.
        limits: The limits for the folder.
        is_needed: Whether to check at all; if False, the limits never count as exceeded.
    """

    def __init__(self, folder: str, limits: Limits, is_needed: bool = True) -> None:
        self._folder, self._limits = folder, limits
        self._next_check = time.monotonic() if is_needed else math.inf

    def is_exceeded(self) -> bool:
        """Return whether the folder exceeds the limits; most calls return False without a check."""
        if time.monotonic() < self._next_check:
            return False
        left = (self._limits.disk_mb << 20) - (deleted_bytes() if sys.platform == "linux" else 0)
        exceeded = left < 0 or _holds_more_than(self._folder, left, self._limits.files)
        self._next_check = time.monotonic() + CHECK_INTERVAL_S
        return exceeded


def _holds_more_than(folder: str, n_bytes: int, n_files: int) -> bool:
    """Return whether a folder exceeds these limits, or contains a subfolder that cannot be read but can be filled."""
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            with os.scandir(path) as entries:
                for entry in entries:
                    n_files -= 1
                    if n_files < 0 or n_bytes < 0:
                        return True
                    with contextlib.suppress(FileNotFoundError):
                        n_bytes -= 512 * entry.stat(follow_symlinks=False).st_blocks
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(entry.path)
        except FileNotFoundError:  # the folder has just been deleted
            continue
        except OSError as error:
            if error.errno == errno.ENAMETOOLONG or _can_be_filled(path):
                return True
    return n_bytes < 0


def _can_be_filled(folder: str) -> bool:
    """Return whether files can be created in a folder, even if the folder cannot be listed."""
    try:
        return os.lstat(folder).st_mode & 0o300 == 0o300
    except OSError:
        return False
