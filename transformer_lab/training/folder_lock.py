"""A lock on a run's folder, so that two runs cannot write to it at the same time."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from filelock import lock_descriptor

LOCK_FILE = "run.lock"


@contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Lock a folder; create it if necessary, and remove it again if it stays empty.

    The operating system releases the lock when the process ends, even if it is killed.

    Raises:
        ValueError: Another process holds the lock; the message names that process.
        OSError: The lock cannot be written.
    """
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with _locked(folder):
            yield
    finally:
        with suppress(OSError):  # keep folders that are not empty
            for path in missing:
                path.rmdir()


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    path = folder / LOCK_FILE
    with path.open("a+", encoding="utf-8") as file:
        if not lock_descriptor(file.fileno(), blocking=False):
            file.seek(1)  # on Windows, the first byte is locked and cannot be read
            raise ValueError(f"{folder} is in use by {file.read() or 'another process'}")
        file.truncate(0)
        file.write(f"\nprocess {os.getpid()} on {socket.gethostname()}")
        file.flush()
        try:
            yield
        finally:
            with suppress(PermissionError):  # Windows cannot delete an open file
                path.unlink(missing_ok=True)
