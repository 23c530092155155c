"""A submitted file, and the limits and checks that apply to all submitted files."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO

from transformer_course.grading.incoming.printable_text import printable
from transformer_course.grading.incoming.submission_times import TIMESTAMP_FILE

MAX_NOTEBOOK_BYTES = 16 << 20
"""Maximum size of a notebook; a notebook with many pictures takes a few megabytes."""
MAX_DEPTH = 8
"""Maximum depth of nested folders."""
SYSTEM_FILES = {TIMESTAMP_FILE, "thumbs.db", "desktop.ini"}
SYSTEM_FOLDERS = ("__MACOSX", "__pycache__")
"""Folders created by operating systems and Python; folders with any other name may belong to a student."""
NO_NOTEBOOK_IN_FOLDER = "There is no notebook to grade in this folder."
NO_NOTEBOOK_IN_ZIP = "There is no notebook to grade in this zip."


class UnreadableFile(ValueError):
    """Raised if a submitted file cannot be read; the message gives the reason."""


@dataclass(frozen=True)
class SubmittedFile:
    """A submitted file, or a placeholder for a folder or zip without any files.

    Args:
        path: The file's path, in which a zip counts as a folder.
        parts: The parts of the path relative to the folder or zip being searched.
        read: Function that returns the file's content or raises ``UnreadableFile``.
        time: The time of the last change, or None if it is unknown.
        time_source: Where the time comes from.
        problem: The reason why the file must not be read, or empty.
        is_notebook: Whether the file has a notebook's extension.
    """

    path: Path
    parts: tuple[str, ...]
    read: Callable[[], bytes] = bytes
    time: datetime | None = None
    time_source: str = ""
    problem: str = ""
    is_notebook: bool = True


def not_a_notebook(name: str) -> str:
    """Return the message for a file without a notebook's extension."""
    suffix = printable(PurePosixPath(name).suffix[:20])
    return f"This is not a notebook{f' ({suffix})' if suffix else ''}: only files that end in .ipynb can be graded."


def read_at_most(file: IO[bytes], max_bytes: int) -> bytes:
    """Read a file of limited size.

    Raises:
        UnreadableFile: The file is larger than the limit.
    """
    content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise UnreadableFile(f"The file is larger than {max_bytes >> 20} MB. Clear the outputs and submit it again.")
    return content


def is_hidden(name: str) -> bool:
    """Return whether files or folders with this name are skipped."""
    return name.startswith(".") or name in SYSTEM_FOLDERS
