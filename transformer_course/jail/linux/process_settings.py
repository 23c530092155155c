"""Settings of this process that Linux keeps: ``man 2 prctl``."""

import ctypes
from functools import cache

DIE_WITH_PARENT, DUMPABLE, KEEP_CAPABILITIES, SUBREAPER, NO_NEW_PRIVILEGES = 1, 4, 8, 36, 38


@cache
def libc() -> ctypes.CDLL:
    """Return C's library, of which each new copy would take as long as the call it is made for."""
    return ctypes.CDLL(None, use_errno=True)


def prctl(option: int, value: int) -> None:
    """Change a setting of this process.

    Raises:
        OSError: The system refuses.
    """
    if libc().prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}, {value})")
