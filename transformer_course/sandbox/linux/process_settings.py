"""Change kernel settings of this process (``man 2 prctl``)."""

import ctypes

DIE_WITH_PARENT, DUMPABLE, KEEP_CAPABILITIES, SUBREAPER, NO_NEW_PRIVILEGES = 1, 4, 8, 36, 38


def prctl(option: int, value: int) -> None:
    """Change a setting of this process.

    Raises:
        OSError: The system call fails.
    """
    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), f"prctl({option}, {value})")
