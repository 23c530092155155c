"""Find the submitted files in a zip, which is read in memory and never unpacked to disk."""

import contextlib
import os
import re
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO
from zoneinfo import ZoneInfo

from transformer_course.grading.incoming.platform_names import notebook_stem
from transformer_course.grading.incoming.submission_times import (
    DOWNLOAD_TIME,
    Time,
    has_download_times,
    time_in_zip,
)
from transformer_course.grading.incoming.submitted_file import (
    MAX_DEPTH,
    MAX_NOTEBOOK_BYTES,
    NO_NOTEBOOK_IN_FOLDER,
    NO_NOTEBOOK_IN_ZIP,
    SYSTEM_FILES,
    SubmittedFile,
    UnreadableFile,
    is_hidden,
    not_a_notebook,
    read_at_most,
)

MAX_INNER_ZIP_BYTES = 64 << 20
MAX_DIRECTORY_BYTES = 4 << 20
"""Maximum size of a zip's central directory, which takes about 100 bytes per file."""
UTF8_FLAG = 0x800
"""Flag that marks the name of a zip member as UTF-8."""
MAX_NESTED_ZIPS = 1
"""Maximum nesting depth of zips inside the outermost zip."""


def files_in_zip(
    path: Path, parts: tuple[str, ...] = (), time: Time | None = None, zone: ZoneInfo | None = None
) -> Iterator[SubmittedFile]:
    """Find the files in a zip and in nested zips; unreadable files are yielded with the reason.

    Read each file before requesting the next file.

    Args:
        path: The zip.
        parts: The parts of its path if it is a student's zip; empty for a class zip.
        time: The submission time for all files in a student's zip, because the times inside cannot be trusted. None for
            a class zip, which contains a submission time for each file.
        zone: The time zone of the course. None means the local time zone.
    """
    try:
        with path.open("rb") as file:
            yield from _members(file, path, path.stem, parts, time, zone=zone)
    except OSError as error:
        yield SubmittedFile(path, parts or (path.stem,), problem=f"The file cannot be read: {error.strerror}.")


def _members(
    file: IO[bytes],
    displayed: Path,
    stem: str,
    parts: tuple[str, ...],
    time: Time | None,
    depth: int = 0,
    zone: ZoneInfo | None = None,
) -> Iterator[SubmittedFile]:
    try:
        _check_directory(file)
        archive = zipfile.ZipFile(file)
    except (UnreadableFile, zipfile.BadZipFile, ValueError, OSError, NotImplementedError, struct.error) as error:
        problem = str(error) if isinstance(error, UnreadableFile) else "The zip is damaged."
        yield SubmittedFile(displayed, parts or (stem,), problem=problem)
        return
    with archive:
        folders, filled = set[str](), set[str]()
        if time is None and has_download_times(archive.infolist(), zone):
            time = None, DOWNLOAD_TIME
        for info, inner, problem in _entries(archive, stem, is_class=not parts):
            (folders if info.is_dir() else filled).update(inner[:1])
            if not info.is_dir():
                own_time = time or time_in_zip(info, zone)
                yield from _member(
                    archive, info, displayed.joinpath(*inner), (*parts, *inner), own_time, problem, depth
                )
        if parts and not filled:
            yield SubmittedFile(displayed, parts, problem=NO_NOTEBOOK_IN_ZIP)
        for folder in set() if parts else sorted(folders - filled):  # in a class zip, each folder belongs to a student
            yield SubmittedFile(displayed / folder, (folder,), problem=NO_NOTEBOOK_IN_FOLDER)


def _entries(
    archive: zipfile.ZipFile, stem: str, *, is_class: bool
) -> Iterator[tuple[zipfile.ZipInfo, tuple[str, ...], str]]:
    """Yield (entry, path, problem) for each entry in a zip; the problem is an empty string if there is none."""
    earlier: set[tuple[str, ...]] = set()
    for info in archive.infolist():
        name = PurePosixPath(_name_in_zip(info).replace("\\", "/"))
        inner = name.parts
        if not inner or any(is_hidden(part) for part in inner if part != "..") or name.name.lower() in SYSTEM_FILES:
            continue
        problem = _problem_of(info, name)
        if inner in earlier:
            problem = "The zip has two files with this name; only the first file was read."
        earlier.add(inner)
        if inner[0].casefold() == stem.casefold() and (len(inner) > 1 or info.is_dir()):
            inner = inner[1:]  # the zip contains a single folder with its own name
        if _leads_out(name):
            inner = (*((stem,) if is_class else ()), name.name)
        yield info, inner, problem


def _name_in_zip(info: zipfile.ZipInfo) -> str:
    """Return the name of a member, which may be UTF-8 even without the flag (macOS does not set it)."""
    if not info.flag_bits & UTF8_FLAG:
        with contextlib.suppress(UnicodeError):
            return info.filename.encode("cp437").decode()
    return info.filename


def _member(
    archive: zipfile.ZipFile,
    info: zipfile.ZipInfo,
    path: Path,
    here: tuple[str, ...],
    time: Time,
    problem: str,
    depth: int,
) -> Iterator[SubmittedFile]:
    """Yield the files for a zip member, which may be a notebook, a zip, or something else."""
    suffix, is_notebook = path.suffix.lower(), notebook_stem(path.name) is not None
    if not is_notebook and suffix != ".zip":
        yield SubmittedFile(path, here, bytes, *time, problem or not_a_notebook(path.name), is_notebook=False)
    elif problem or (suffix == ".zip" and depth == MAX_NESTED_ZIPS):
        nested = "This zip is inside a zip inside another zip, so it was not read."
        yield SubmittedFile(path, here, problem=problem or nested)
    elif is_notebook:
        yield SubmittedFile(path, here, _reader(archive, info), *time)
    else:
        here = (*here[:-1], path.stem)
        try:
            content = BytesIO(_read_member(archive, info, MAX_INNER_ZIP_BYTES))
        except UnreadableFile as error:
            yield SubmittedFile(path, here, problem=str(error))
        else:
            yield from _members(content, path, path.stem, here, time, depth + 1)


def _check_directory(file: IO[bytes]) -> None:
    """Check the size of a zip's central directory before reading it, because it might list millions of names.

    Raises:
        UnreadableFile: The directory is too large.
    """
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - (22 + (1 << 16))))
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0:
        raise UnreadableFile("The file is damaged: it is not a zip.")
    (length,) = struct.unpack_from("<I", tail, at + 12)
    if length > MAX_DIRECTORY_BYTES:
        raise UnreadableFile("The zip contains too many files.")
    file.seek(0)


def _problem_of(info: zipfile.ZipInfo, name: PurePosixPath) -> str:
    if _leads_out(name):
        return "The path of this file points outside the zip, so it was not read."
    if stat.S_ISLNK(info.external_attr >> 16):
        return "This is a link, and links are not followed."
    if len(name.parts) > MAX_DEPTH + 2:
        return f"This file is nested more than {MAX_DEPTH} folders deep, so it was not read."
    return ""


def _leads_out(name: PurePosixPath) -> bool:
    return name.is_absolute() or ".." in name.parts or bool(re.match(r"[A-Za-z]:", str(name)))


def _reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], bytes]:
    return lambda: _read_member(archive, info, MAX_NOTEBOOK_BYTES)


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, max_bytes: int) -> bytes:
    """Read a member without trusting its declared size.

    Raises:
        UnreadableFile: The member is encrypted, corrupted or too large.
    """
    if info.flag_bits & 1:
        raise UnreadableFile("The zip is encrypted.")
    try:
        with archive.open(info) as file:
            return read_at_most(file, max_bytes)
    except UnreadableFile:
        raise
    except Exception as error:  # zlib, bz2 and lzma raise their own types of errors
        raise UnreadableFile("The zip is damaged.") from error
