"""Files that are replaced whole or not at all."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; what the block writes there replaces ``path`` when the block ends.

    The new file is flushed to the disk before it replaces the old one in one step: whenever the program is killed,
    ``path`` is either the old file or the new one, whole. If the block fails, the temporary file is removed, and
    ``path`` stays as it was. A killed program leaves its temporary file, which the next write of ``path`` overwrites.

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
    """Name a file in the errors of the block that writes it: the system names none when the disk is full.

    Raises:
        OSError: The block raised it.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None:
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


def atomic_write_text(path: Path, text: str) -> None:
    """Write a text in UTF-8, atomically.

    Surrogates, which stand for bytes that were not UTF-8 when the text was read, are written as those bytes.
    """
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8", errors="surrogateescape")
