"""Manage the folder of downloaded models, which is outside the repository so that all clones share it."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

FOLDER_VARIABLE = "TRANSFORMER_LAB_MODELS"
"""Environment variable that selects a different folder."""


def cache_folder() -> Path:
    """Return the folder of downloaded models, which may not exist yet."""
    if chosen := os.environ.get(FOLDER_VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "transformer-course" / "models"


def check_space(folder: Path, needed_bytes: int) -> None:
    """Raise ``OSError`` if the disk that contains a folder has less free space than required."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise OSError(
            f"the disk that contains {folder} has {free / 1e6:,.0f} MB free, but converting the model requires "
            f"{needed_bytes / 1e6:,.0f} MB; free some space, or set {FOLDER_VARIABLE} to a folder on another disk"
        )


@contextmanager
def partial_folder(folder: Path) -> Iterator[Path]:
    """Yield an empty folder for preparing a model, to one process at a time.

    The folder is emptied first, in case a download was interrupted, and removed at the end.

    Args:
        folder: Final folder of the model.
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
