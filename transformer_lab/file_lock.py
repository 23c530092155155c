"""A lock on a file, which the system releases when the process that has it ends, however it ends."""

import sys
from typing import IO, Any


def try_lock(file: IO[Any]) -> bool | None:
    """Lock an open file until it is closed or this process ends, unless another has it.

    Returns:
        Whether this process has it now; None on Windows, where nothing is locked: its locks keep others from reading
        the file as well, and those who find it locked are told who has it.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with Path(folder, "lock").open("wb") as first, Path(folder, "lock").open("wb") as second:
    ...         try_lock(first), try_lock(second)
    (True, False)
    """
    if sys.platform == "win32":
        return None
    import fcntl

    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
