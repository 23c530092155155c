"""Take files, network and other people's processes away from this process for good, with Linux's Landlock.

It needs no special rights, and holds for every process started from here on. ``man 7 landlock`` has the terms; an
older kernel offers fewer of them, and one before 5.13 none.
"""

import ctypes
import os
import sys
from collections.abc import Iterable

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
"""The numbers of the system calls, on every architecture."""
VERSION, PATH_BENEATH = 1, 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
CHANGE_FOLDER = sum(1 << bit for bit in range(4, 13))  # remove and make everything that can be in a folder
REFER, TRUNCATE = 1 << 13, 1 << 14
TCP = 0b11  # bind and connect
SIGNALS_AND_ABSTRACT_SOCKETS = 0b11


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """Say which version of Landlock this system offers; 0 means none."""
    if sys.platform != "linux":
        return 0
    try:
        return _call(CREATE_RULESET, None, 0, VERSION)
    except OSError:
        return 0


def confine(readable: Iterable[str], writable: Iterable[str]) -> None:
    """Leave only what lies below some paths; no TCP, and no signals to processes outside (where the kernel can).

    Args:
        readable: May be read and executed.
        writable: May be read and written as well.

    Raises:
        OSError: The kernel refuses.
    """
    offered = version()
    reading = EXECUTE | READ_FILE | READ_DIR
    writing = WRITE_FILE | CHANGE_FOLDER | (REFER if offered >= 2 else 0) | (TRUNCATE if offered >= 3 else 0)
    ruleset = _Ruleset(
        reading | writing, TCP if offered >= 4 else 0, SIGNALS_AND_ABSTRACT_SOCKETS if offered >= 6 else 0
    )
    size = 24 if offered >= 6 else 16 if offered >= 4 else 8
    rules = _call(CREATE_RULESET, ctypes.byref(ruleset), size, 0)
    try:
        for paths, allowed in ((readable, reading), (writable, reading | writing)):
            for path in paths:
                _allow(rules, path, allowed)
        _call(RESTRICT_SELF, rules, 0)
    finally:
        os.close(rules)


def _allow(rules: int, path: str, allowed: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # what does not exist need not be allowed
    try:
        if not os.path.isdir(path):
            allowed &= EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE
        _call(ADD_RULE, rules, PATH_BENEATH, ctypes.byref(_Beneath(allowed, parent)), 0)
    finally:
        os.close(parent)


def _call(number: int, *arguments: object) -> int:
    result = int(ctypes.CDLL(None, use_errno=True).syscall(number, *arguments))
    if result < 0:
        error = ctypes.get_errno()
        raise OSError(error, os.strerror(error))
    return result
