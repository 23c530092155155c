"""Restrict this process with Landlock: access to only a few paths, no TCP, no signals to other processes.

Landlock needs no privileges and also applies to every process started later. ``man 7 landlock`` explains the terms.
Older kernels support fewer restrictions, and kernels before 5.13 do not support Landlock.
"""

import ctypes
import os
import sys
from collections.abc import Iterable
from functools import cache

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""Numbers of the system calls, which are the same on every architecture."""
QUERY_VERSION, PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
CHANGE_FOLDER = sum(1 << bit for bit in range(4, 13))  # create and remove directory entries of all kinds
REFER, TRUNCATE = 1 << 13, 1 << 14
TCP = 0b11  # bind and connect
SIGNALS_AND_ABSTRACT_SOCKETS = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Return the version of Landlock that this system supports, or 0."""
    if sys.platform != "linux":
        return 0
    try:
        return _syscall(CREATE_RULESET, None, 0, QUERY_VERSION)
    except OSError:
        return 0


def restrict_self(readable: Iterable[str], writable: Iterable[str], listed: Iterable[str] = ()) -> None:
    """Restrict this process irrevocably to files below these paths, and block TCP and signals on newer kernels.

    Args:
        readable: Paths below which files may be read and executed; missing paths are ignored.
        writable: Paths below which files may also be written.
        listed: Folders in which only names may be listed.

    Raises:
        OSError: The system call fails.
    """
    supported = version()
    reading = EXECUTE | READ_FILE | READ_DIR
    writing = WRITE_FILE | CHANGE_FOLDER | (REFER if supported >= 2 else 0) | (TRUNCATE if supported >= 3 else 0)
    ruleset = _Ruleset(
        reading | writing, TCP if supported >= 4 else 0, SIGNALS_AND_ABSTRACT_SOCKETS if supported >= 6 else 0
    )
    size = 24 if supported >= 6 else 16 if supported >= 4 else 8
    rules = _syscall(CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    try:
        for paths, allowed in ((readable, reading), (writable, reading | writing), (listed, READ_DIR)):
            for path in paths:
                _add_rule(rules, path, allowed)
        _syscall(RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _add_rule(rules: int, path: str, allowed: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a path that does not exist needs no rule
    try:
        if not os.path.isdir(path):
            allowed &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
        _syscall(ADD_RULE, rules, PATH_BENEATH, ctypes.byref(_Beneath(allowed, parent)), 0)
    finally:
        os.close(parent)


@cache  # creating the object takes as long as a system call, and a job makes twenty calls
def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _syscall(number: int, *arguments: object) -> int:
    result = int(_libc().syscall(number, *arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
