"""The folder of downloaded models, outside the repository so that all clones share it."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock

VARIABLE = "TRANSFORMER_LAB_MODELS"
"""The environment variable for a different folder."""


def cache_folder() -> Path:
    """Return the folder of downloaded models, which may not exist yet."""
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
    """Raise OSError if a folder's disk has less free space than this."""
    free = shutil.disk_usage(folder).free
    if free < needed_bytes:
        raise OSError(
            f"the disk of {folder} has {free / 1e6:,.0f} MB free, and the model needs {needed_bytes / 1e6:,.0f} MB "
            f"while it is converted; free some space, or set {VARIABLE} to a folder on another disk"
        )


@contextmanager
def unfinished(folder: Path) -> Iterator[Path]:
    """Yield an empty folder in which to prepare a model, for one process at a time.

    Leftovers of an interrupted download are removed first, and the folder itself at the end.

    Args:
        folder: The final folder of the model.
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
