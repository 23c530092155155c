"""A lock on the folder of a run, so that two runs do not write into it at the same time."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor

LOCK_FILE = "run.lock"


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, which is made if it does not exist, and goes again if nothing is put into it.

    The system releases the lock when the process ends, however it ends.

    Raises:
        ValueError: Another process holds it; the message names that process.
        OSError: The lock cannot be written.
    """
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with _locked(folder):
            yield
    finally:
        with suppress(OSError):  # one that is not empty stays
            for place in missing:
                place.rmdir()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    path = folder / LOCK_FILE
    with path.open("a+", encoding="utf-8") as file:
        if not lock_descriptor(file.fileno(), blocking=False):
            file.seek(1)  # on Windows, the first byte is what is locked, and cannot be read
            raise ValueError(f"{folder} is in use by {file.read() or 'another process'}")
        file.truncate(0)
        file.write(f"\nprocess {os.getpid()} on {socket.gethostname()}")
        file.flush()
        try:
            yield
        finally:
            with suppress(PermissionError):  # on Windows, while it is open
                path.unlink(missing_ok=True)
