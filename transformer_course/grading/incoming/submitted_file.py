"""One submitted file, and what can be said about any of them."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO

from transformer_course.grading.incoming.printable_text import printable
from transformer_course.grading.incoming.submission_times import TIMESTAMP_FILE

MAX_NOTEBOOK_BYTES = 16 << 20
"""Maximum size of a file; a notebook with many pictures has a few million bytes."""
MAX_DEPTH = 8
"""Maximum depth of nested folders."""
SYSTEM_FILES = {TIMESTAMP_FILE, "thumbs.db", "desktop.ini"}
SYSTEM_FOLDERS = ("__MACOSX", "__pycache__")
"""Folders created by systems; any other name may be a learner's."""
NO_NOTEBOOK_IN_FOLDER = "There is no notebook to grade in this folder."
NO_NOTEBOOK_IN_ZIP = "There is no notebook to grade in this zip."


class UnreadableFile(ValueError):
    """A submitted file cannot be read; the message gives the reason."""


@dataclass(frozen=True)
class SubmittedFile:
    """A file, or a folder or zip without anything to read.

    Args:
        path: Its path, in which a zip counts as a folder.
        parts: The parts of its path relative to the folder or zip being searched.
        read: Function that returns its content or raises ``UnreadableFile``.
        time: When it was last changed, or None if that is unknown.
        time_source: A description of the source of the time.
        problem: Why it must not be read, or empty.
        is_notebook: Whether its name is that of a notebook.
    """

    path: Path
    parts: tuple[str, ...]
    read: Callable[[], bytes] = bytes
    time: datetime | None = None
    time_source: str = ""
    problem: str = ""
    is_notebook: bool = True


def not_a_notebook(name: str) -> str:
    """Return the problem of a file whose name is not that of a notebook."""
    suffix = printable(PurePosixPath(name).suffix[:20])
    return f"This is not a notebook{f' ({suffix})' if suffix else ''}: only files that end in .ipynb can be graded."


def read_at_most(file: IO[bytes], most: int) -> bytes:
    """Read a file up to a size.

    Raises:
        UnreadableFile: The file is larger.
    """
    content = file.read(most + 1)
    if len(content) > most:
        raise UnreadableFile(f"The file is larger than {most >> 20} MB. Clear the outputs and submit it again.")
    return content


def is_hidden(name: str) -> bool:
    """Return whether a file or folder is skipped because of its name."""
    return name.startswith(".") or name in SYSTEM_FOLDERS
