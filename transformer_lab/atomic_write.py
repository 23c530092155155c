"""Atomic file writes: a file is replaced completely or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path next to ``path``; the file written there replaces ``path`` when the block ends.

    The new file is flushed to disk and then replaces the old file in a single step. Even if the program is killed,
    ``path`` contains either the complete old file or the complete new file. If the block fails, the temporary file is
    removed and ``path`` does not change. A killed program leaves its temporary file behind until the next write to
    ``path``.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     with atomic_write(Path(folder, "settings.json")) as temporary:
    ...         _ = temporary.write_text("{}", "utf-8")
    ...     sorted(path.name for path in Path(folder).iterdir())
    ['settings.json']
    """
    temporary = path.with_name(f"{path.name}.unfinished")
    try:
        with naming(path):
            yield temporary
            with temporary.open("rb+") as file:
                os.fsync(file.fileno())
            temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Add the file name to errors raised in the block, because the operating system omits it when the disk is full.

    Raises:
        OSError: The block raised an ``OSError``.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def atomic_write_text(path: Path, text: str) -> None:
    """Write text to a UTF-8 file atomically.

    Surrogates stand for undecodable bytes of the original file, and are written as these bytes.
    """
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="surrogateescape")
