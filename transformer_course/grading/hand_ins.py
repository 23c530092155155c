"""The files that were handed in, in folders and in zips, which are never unpacked but read in memory."""

import os
import re
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO

MAX_NOTEBOOK_BYTES = 16 << 20
"""An honest notebook with many pictures has a few million."""
MAX_DEPTH = 8
"""Number of nested folders that are searched."""
MAX_INNER_ZIP_BYTES = 64 << 20
MAX_DIRECTORY_BYTES = 4 << 20
"""Bytes of a zip's list of contents, about 100 for each file."""
MAX_INNER_ZIPS = 1
"""Number of zips inside each other, besides the outermost."""
TIMESTAMP = "timestamp.txt"
"""Where nbgrader keeps the time at which the notebooks beside it were handed in."""


class UnreadableFile(ValueError):
    """What was handed in cannot be read; the message says why."""


@dataclass(frozen=True)
class HandIn:
    """One file, or a folder that has nothing to read.

    Args:
        path: Where it is, with the zip that it is in as one of the folders.
        parts: The names of the folders that it is in, seen from the folder or zip that was asked for, and its own.
        read: Function that returns its content, or raises ``UnreadableFile``.
        time: When it was last changed; None if that is not known.
        time_source: Where that time is from, in words.
        problem: Why it is not to be read; empty if it is.
    """

    path: Path
    parts: tuple[str, ...]
    read: Callable[[], bytes] = bytes
    time: datetime | None = None
    time_source: str = ""
    problem: str = ""


def files_below(folder: Path, ignore: Path | None = None) -> Iterator[HandIn]:
    """Find the notebooks in a folder and in the zips there; nothing that is hidden, and nothing through a link.

    Folders directly below that have no notebook are told, too, with their problem: each is a student's. Each is to be
    read before the next is asked for.

    Args:
        folder: The folder.
        ignore: A folder that is not searched.
    """
    for entry in sorted(folder.iterdir()):
        if _is_hidden(entry.name):
            continue
        if entry.is_symlink() and entry.is_dir():
            linked = "This is a link to a folder somewhere else, and links are not followed."
            yield HandIn(entry, (entry.name,), problem=linked)
        elif entry.is_dir() and not _is_same(entry, ignore):
            found = False
            for path in sorted(_files_in_tree(entry, ignore)):
                for hand_in in _file(path, path.relative_to(folder).parts):
                    found = True
                    yield hand_in
            if not found:
                empty = "There is no notebook to grade in this folder."
                yield HandIn(entry, (entry.name,), problem=empty)
        elif not entry.is_dir():
            yield from _file(entry, (entry.name,))


def _files_in_tree(folder: Path, ignore: Path | None) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        depth = len(Path(here).relative_to(folder).parts)
        folders[:] = [
            name
            for name in folders
            if depth < MAX_DEPTH and not _is_hidden(name) and not _is_same(Path(here, name), ignore)
        ]
        yield from (Path(here, name) for name in files if not _is_hidden(name))


def _file(path: Path, parts: tuple[str, ...]) -> Iterator[HandIn]:
    if path.suffix == ".ipynb":
        yield one_file(path, parts)
    elif path.suffix.lower() == ".zip" and not path.is_symlink() and path.is_file():
        yield from files_in_zip(path, (*parts[:-1], path.stem))


def one_file(path: Path, parts: tuple[str, ...]) -> HandIn:
    """Return a notebook that lies in a folder."""

    def read() -> bytes:
        try:
            if path.is_symlink() or not path.is_file():
                raise UnreadableFile("This is no file of its own.")
            with path.open("rb") as file:
                return _read_at_most(file, MAX_NOTEBOOK_BYTES)
        except OSError as error:
            raise UnreadableFile(f"The file cannot be read: {error.strerror}.") from error

    return HandIn(path, parts, read, *_time_of(path))


def _time_of(path: Path) -> tuple[datetime | None, str]:
    if (noted := _noted_time(path.with_name(TIMESTAMP))) is not None:
        return noted, TIMESTAMP
    if any((folder / ".git").exists() for folder in list(path.parents)[: MAX_DEPTH + 1]):
        return None, ""  # the files of a clone have the time of cloning
    try:
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC), "time of the file"
    except (OSError, ValueError, OverflowError):
        return None, ""


def _noted_time(path: Path) -> datetime | None:
    """Return the time in a file as nbgrader writes it, such as ``2026-10-12 15:58:23.948203 UTC``."""
    try:
        if path.is_symlink() or not path.is_file():
            return None
        with path.open("rb") as file:
            text = file.read(100).decode().strip()
        noted = datetime.fromisoformat(re.sub(r" *(UTC|Z)$", "+00:00", text))
        return noted if noted.tzinfo else noted.replace(tzinfo=UTC)
    except (OSError, ValueError):
        return None


def files_in_zip(path: Path, parts: tuple[str, ...] = ()) -> Iterator[HandIn]:
    """Find the notebooks in a zip, and in zips in it; what cannot be read is told with its problem.

    Each is to be read before the next is asked for.

    Args:
        path: The zip.
        parts: The names of the folders that it is in, and its own.
    """
    try:
        with path.open("rb") as file:
            yield from _members(file, path, path.stem, parts)
    except OSError as error:
        yield HandIn(path, parts or (path.stem,), problem=f"The file cannot be read: {error.strerror}.")


def _members(file: IO[bytes], shown: Path, stem: str, parts: tuple[str, ...], depth: int = 0) -> Iterator[HandIn]:
    try:
        _check_directory(file)
        archive = zipfile.ZipFile(file)
    except (UnreadableFile, zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error) as error:
        why = str(error) if isinstance(error, UnreadableFile) else "The zip is damaged."
        yield HandIn(shown, parts or (stem,), problem=why)
        return
    with archive:
        seen: set[tuple[str, ...]] = set()
        for info in archive.infolist():
            name = PurePosixPath(info.filename.replace("\\", "/"))
            suffix = name.suffix.lower()
            if info.is_dir() or suffix not in (".ipynb", ".zip") or any(_is_hidden(p) for p in name.parts if p != ".."):
                continue
            inner = name.parts
            problem = _problem_of(info, name)
            if inner in seen:
                problem = "The zip holds two files of this name: the first one was read."
            seen.add(inner)
            if len(inner) > 1 and inner[0].casefold() == stem.casefold():  # a folder, zipped under its own name
                inner = inner[1:]
            if _leads_out(name):
                inner = (*(() if parts else (stem,)), name.name)
            here, path = (*parts, *inner), shown.joinpath(*inner)
            if not problem and suffix == ".zip" and depth == MAX_INNER_ZIPS:
                problem = "This is a zip in a zip in a zip, and is not read."
            if problem:
                yield HandIn(path, here, problem=problem)
            elif suffix == ".ipynb":
                yield HandIn(path, here, _reader(archive, info), *_time_in_zip(info))
            else:
                here = (*here[:-1], name.stem)
                try:
                    content = BytesIO(_read_member(archive, info, MAX_INNER_ZIP_BYTES))
                except UnreadableFile as error:
                    yield HandIn(path, here, problem=str(error))
                else:
                    yield from _members(content, path, name.stem, here, depth + 1)


def _check_directory(file: IO[bytes]) -> None:
    """Check that the list of contents is short, before it is read: a few bytes for each of a million names cost much.

    Raises:
        UnreadableFile: It is too long.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - (22 + (1 << 16))))
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0:
        raise UnreadableFile("The file is damaged: it is no zip.")
    (length,) = struct.unpack_from("<I", tail, at + 12)
    if length > MAX_DIRECTORY_BYTES:
        raise UnreadableFile("The zip holds too many files.")
    file.seek(0)


def _problem_of(info: zipfile.ZipInfo, name: PurePosixPath) -> str:
    if _leads_out(name):
        return "The zip holds a path that leads out of it; this file was not read."
    if stat.S_ISLNK(info.external_attr >> 16):
        return "This is a link, and links are not followed."
    if len(name.parts) > MAX_DEPTH + 2:
        return f"This lies more than {MAX_DEPTH} folders deep."
    return ""


def _leads_out(name: PurePosixPath) -> bool:
    return name.is_absolute() or ".." in name.parts or bool(re.match(r"[A-Za-z]:", str(name)))


def _reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], bytes]:
    return lambda: _read_member(archive, info, MAX_NOTEBOOK_BYTES)


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """Read a member, whatever length it claims to have.

    Raises:
        UnreadableFile: It is encrypted, damaged or too large.
    """
    if info.flag_bits & 1:
        raise UnreadableFile("The zip is encrypted.")
    try:
        with archive.open(info) as file:
            return _read_at_most(file, most)
    except UnreadableFile:
        raise
    except Exception as error:  # zlib, bz2 and lzma have errors of their own
        raise UnreadableFile("The zip is damaged.") from error


def _time_in_zip(info: zipfile.ZipInfo) -> tuple[datetime | None, str]:
    try:
        return datetime(*info.date_time).astimezone(UTC), "time in the zip"
    except (ValueError, OverflowError, OSError):
        return None, ""


def _read_at_most(file: IO[bytes], most: int) -> bytes:
    content = file.read(most + 1)
    if len(content) > most:
        raise UnreadableFile(f"The file is larger than {most >> 20} MB. Were the outputs cleared?")
    return content


def _is_hidden(name: str) -> bool:
    return name.startswith((".", "__"))


def _is_same(path: Path, other: Path | None) -> bool:
    return other is not None and path.resolve() == other.resolve()
