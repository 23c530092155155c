"""The folder that downloaded models are kept in: outside the repository, so that all clones share it."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

VARIABLE = "TRANSFORMER_LAB_MODELS"
"""The environment variable that names another folder."""


def cache_folder() -> Path:
    """Return the folder of downloaded models, which need not exist yet."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "transformer-course" / "models"


def check_space(folder: Path, needed_bytes: int) -> None:
    """Raise OSError if the disk of a folder has less free space than this."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise OSError(
            f"the disk of {folder} has {free / 1e6:,.0f} MB free, and the model needs {needed_bytes / 1e6:,.0f} MB "
            f"while it is converted; free some space, or set {VARIABLE} to a folder on another disk"
        )


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """Yield an empty folder to prepare a model in, which only one process at a time has.

    What an interrupted download has left is removed first, and the folder itself at the end.

    Args:
        folder: Where the model will be.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    partial = folder.with_name(f"{folder.name}.partial")
    with FileLock(folder.with_name(f"{folder.name}.lock")):
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir()
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)
