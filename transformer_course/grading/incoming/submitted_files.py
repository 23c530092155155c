"""Submitted files in folders and in zips. Zips are read in memory and never unpacked."""

import contextlib
import os
import re
import stat
import struct
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO
from pathlib import Path, PurePosixPath
from typing import IO
from zoneinfo import ZoneInfo

from transformer_course.grading.incoming.git_clones import checked_out_files
from transformer_course.grading.incoming.platform_names import notebook_stem, read_platform_name
from transformer_course.grading.incoming.printable_text import printable
from transformer_course.grading.incoming.tables import decode
from transformer_course.grading.incoming.written_time import MAX_TIME_LENGTH, in_zone, read_time

MAX_NOTEBOOK_BYTES = 16 << 20
"""Maximum size of a file; a notebook with many pictures has a few million bytes."""
MAX_DEPTH = 8
"""Maximum depth of nested folders."""
MAX_INNER_ZIP_BYTES = 64 << 20
MAX_DIRECTORY_BYTES = 4 << 20
"""Maximum size of a zip's central directory in bytes, about 100 for each file."""
UTF8_FLAG = 0x800
"""Flag of a zip member whose name is UTF-8."""
MAX_INNER_ZIPS = 1
"""Maximum number of nested zips inside the outermost zip."""
TIMESTAMP_FILE = "timestamp.txt"
"""The file next to a submission in which nbgrader stores the submission time."""
SYSTEM_FILES = {TIMESTAMP_FILE, "thumbs.db", "desktop.ini"}
SYSTEM_FOLDERS = ("__MACOSX", "__pycache__")
"""Folders created by systems; any other name may be a learner's."""
NO_NOTEBOOK_IN_FOLDER = "There is no notebook to grade in this folder."
NO_NOTEBOOK_IN_ZIP = "There is no notebook to grade in this zip."
Time = tuple[datetime | None, str]
"""The submission time and its source, or None and the reason why it is unknown."""
TIME_OF_CLONE = "files in a Git clone have the time of cloning"
TIME_OF_DOWNLOAD = "all files have the time of the download"
MAX_DOWNLOAD_TIME = timedelta(minutes=15)
"""If all times in a Canvas or Moodle download are within this range, they are download times."""
EXTENDED_TIMESTAMP = 0x5455
"""The zip extra field with the time in UTC, in addition to the time in an unknown time zone."""


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


def files_below(
    folder: Path, ignore: Path | None = None, *, of_nbgrader: bool = False, zone: ZoneInfo | None = None
) -> Iterator[SubmittedFile]:
    """Find the files in a folder and in its zips, skipping hidden files and links.

    Empty folders directly below are also yielded, with a problem, because each is a student's. Read each file before
    requesting the next.

    Args:
        folder: The folder.
        ignore: A folder to skip.
        of_nbgrader: Whether nbgrader collected the files, so that its timestamps can be used.
        zone: The time zone of the course. None means the local time zone.
    """
    entries = sorted(entry for entry in folder.iterdir() if not _is_hidden(entry.name))
    clones, checked_out, root = _clones(entries), checked_out_files(folder), folder.resolve()
    if len(clones) == 1:  # a single student cannot make the folder look like a clone
        checked_out, clones = checked_out | checked_out_files(clones.pop()), set()

    downloads = {entry for entry in entries if read_platform_name(entry.name)}
    unpacked = [path for entry in downloads for path in (_files_in_tree(entry, ignore) if entry.is_dir() else [entry])]
    is_download = _are_of_download([moment for path in unpacked if (moment := time_of(path)[0])])

    def time(path: Path) -> Time:
        student, assignment, *_ = (*path.relative_to(folder).parts, "", "")
        stamp = folder / student / assignment / TIMESTAMP_FILE
        if of_nbgrader and stamp.is_file() and not stamp.is_symlink():
            return _noted_time(stamp, zone)
        is_cloned = folder / student in clones or root / path.relative_to(folder) in checked_out
        if is_cloned or (is_download and folder / student in downloads):
            return None, TIME_OF_CLONE if is_cloned else TIME_OF_DOWNLOAD
        return time_of(path)

    for entry in entries:
        if entry.is_symlink() and entry.is_dir():
            linked = "This is a link to a folder somewhere else, and links are not followed."
            yield SubmittedFile(entry, (entry.name,), problem=linked)
        elif entry.is_dir() and not _is_same(entry, ignore):
            found = False
            for path in sorted(_files_in_tree(entry, ignore)):
                for submitted_file in _file(path, path.relative_to(folder).parts, time(path)):
                    found = True
                    yield submitted_file
            if not found:
                yield SubmittedFile(entry, (entry.name,), problem=NO_NOTEBOOK_IN_FOLDER)
        elif not entry.is_dir():
            yield from _file(entry, (entry.name,), time(entry))


def _clones(entries: Sequence[Path]) -> set[Path]:
    """Return the entries that are repositories, if most students' entries are, or if there is only one student."""
    submissions = [one for one in entries if one.is_dir() or one.suffix.lower() in (".ipynb", ".zip")]
    clones = {entry for entry in submissions if (entry / ".git").exists()}
    return clones if 2 * len(clones) > len(submissions) else set()


def _files_in_tree(folder: Path, ignore: Path | None) -> Iterator[Path]:
    for here, folders, files in os.walk(folder):
        depth = len(Path(here).relative_to(folder).parts)
        folders[:] = [
            name
            for name in folders
            if depth < MAX_DEPTH and not _is_hidden(name) and not _is_same(Path(here, name), ignore)
        ]
        yield from (Path(here, name) for name in files if not _is_hidden(name))


def _file(path: Path, parts: tuple[str, ...], time: Time) -> Iterator[SubmittedFile]:
    suffix = path.suffix.lower()
    if notebook_stem(path.name) is not None:
        yield one_file(path, parts, time)
    elif suffix == ".zip" and not path.is_symlink() and path.is_file():
        yield from files_in_zip(path, (*parts[:-1], path.stem), time)
    elif path.name.lower() not in SYSTEM_FILES:
        yield SubmittedFile(path, parts, bytes, *time, problem=_no_notebook(path.name), is_notebook=False)


def _no_notebook(name: str) -> str:
    suffix = printable(PurePosixPath(name).suffix[:20])
    return f"This is not a notebook{f' ({suffix})' if suffix else ''}: only files that end in .ipynb can be graded."


def one_file(path: Path, parts: tuple[str, ...], time: Time) -> SubmittedFile:
    """Return a notebook in a folder, with its submission time."""

    def read() -> bytes:
        try:
            if path.is_symlink() or not path.is_file():
                raise UnreadableFile("This is a link or a special file, not a regular file.")
            with path.open("rb") as file:
                return _read_at_most(file, MAX_NOTEBOOK_BYTES)
        except OSError as error:
            raise UnreadableFile(f"The file cannot be read: {error.strerror}.") from error

    return SubmittedFile(path, parts, read, *time)


def time_of(path: Path) -> Time:
    """Return the modification time of a file or zip from the file system, which its content cannot influence."""
    try:
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC), "time of the file"
    except (OSError, ValueError, OverflowError):
        return None, "the file has no time"


def _noted_time(path: Path, zone: ZoneInfo | None) -> Time:
    """Return the time in nbgrader's timestamp file, such as ``2026-10-12 15:58:23.948203 UTC`` (UTC by default)."""
    text = ""
    try:
        with path.open("rb") as file:
            text = decode(file.read(4 * MAX_TIME_LENGTH))[0].lstrip("\ufeff")
        if not text.strip():
            return None, f"{TIMESTAMP_FILE} is empty"
        written = read_time(text, zone)
        if written.clock is None:
            return None, f"{TIMESTAMP_FILE} has no time of day: {_quoted(text)}"
        local, named = datetime.combine(written.day, written.clock), written.zone
        source = TIMESTAMP_FILE if named else f"{TIMESTAMP_FILE}, read as UTC because it names no time zone"
        return local.replace(tzinfo=named or UTC).astimezone(UTC), source
    except OSError as error:
        return None, f"{TIMESTAMP_FILE} cannot be read: {error.strerror}"
    except (ValueError, OverflowError) as error:
        return None, f"{TIMESTAMP_FILE} cannot be read: {_quoted(text)}, {error}"


def _quoted(text: str) -> str:
    return f"“{printable(' '.join(text.split()))[:MAX_TIME_LENGTH]}”"


def files_in_zip(
    path: Path, parts: tuple[str, ...] = (), time: Time | None = None, zone: ZoneInfo | None = None
) -> Iterator[SubmittedFile]:
    """Find the files in a zip and in nested zips; unreadable files are yielded with their problem.

    Read each file before requesting the next.

    Args:
        path: The zip.
        parts: The parts of its path if it is a student's zip; empty for the zip of a class.
        time: The submission time of everything in a student's zip, because the times inside cannot be trusted. None for
            the zip of a class, which has the submission time of each file.
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
        why = str(error) if isinstance(error, UnreadableFile) else "The zip is damaged."
        yield SubmittedFile(displayed, parts or (stem,), problem=why)
        return
    with archive:
        folders, filled = set[str](), set[str]()
        if time is None and _has_times_of_download(archive.infolist(), zone):
            time = None, TIME_OF_DOWNLOAD
        for info, inner, problem in _entries(archive, stem, is_class=not parts):
            (folders if info.is_dir() else filled).update(inner[:1])
            if not info.is_dir():
                own_time = time or _time_in_zip(info, zone)
                yield from _member(
                    archive, info, displayed.joinpath(*inner), (*parts, *inner), own_time, problem, depth
                )
        if parts and not filled:
            yield SubmittedFile(displayed, parts, problem=NO_NOTEBOOK_IN_ZIP)
        for folder in set() if parts else sorted(folders - filled):  # in a class zip, each is a student's
            yield SubmittedFile(displayed / folder, (folder,), problem=NO_NOTEBOOK_IN_FOLDER)


def _entries(
    archive: zipfile.ZipFile, stem: str, *, is_class: bool
) -> Iterator[tuple[zipfile.ZipInfo, tuple[str, ...], str]]:
    """Yield the entries of a zip, each with its path inside the zip and its problem."""
    observed: set[tuple[str, ...]] = set()
    for info in archive.infolist():
        name = PurePosixPath(_name_in_zip(info).replace("\\", "/"))
        inner = name.parts
        if not inner or any(_is_hidden(part) for part in inner if part != "..") or name.name.lower() in SYSTEM_FILES:
            continue
        problem = _problem_of(info, name)
        if inner in observed:
            problem = "The zip has two files with this name; the first one was read."
        observed.add(inner)
        if inner[0].casefold() == stem.casefold() and (len(inner) > 1 or info.is_dir()):
            inner = inner[1:]  # the zip contains a single folder with its own name
        if _leads_out(name):
            inner = (*((stem,) if is_class else ()), name.name)
        yield info, inner, problem


def _name_in_zip(info: zipfile.ZipInfo) -> str:
    """Return the name of a member; macOS writes UTF-8 without setting the flag."""
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
        yield SubmittedFile(path, here, bytes, *time, problem or _no_notebook(path.name), is_notebook=False)
    elif problem or (suffix == ".zip" and depth == MAX_INNER_ZIPS):
        yield SubmittedFile(path, here, problem=problem or "This zip is inside a zip inside a zip, so it was not read.")
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
    """Check the size of a zip's central directory before reading it, because a million names are expensive to read.

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
        raise UnreadableFile("The zip has too many files.")
    file.seek(0)


def _problem_of(info: zipfile.ZipInfo, name: PurePosixPath) -> str:
    if _leads_out(name):
        return "The path of this file leads out of the zip, so it was not read."
    if stat.S_ISLNK(info.external_attr >> 16):
        return "This is a link, and links are not followed."
    if len(name.parts) > MAX_DEPTH + 2:
        return f"This file is more than {MAX_DEPTH} folders deep."
    return ""


def _leads_out(name: PurePosixPath) -> bool:
    return name.is_absolute() or ".." in name.parts or bool(re.match(r"[A-Za-z]:", str(name)))


def _reader(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Callable[[], bytes]:
    return lambda: _read_member(archive, info, MAX_NOTEBOOK_BYTES)


def _read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, most: int) -> bytes:
    """Read a member without trusting its stated length.

    Raises:
        UnreadableFile: The member is encrypted, corrupted or too large.
    """
    if info.flag_bits & 1:
        raise UnreadableFile("The zip is encrypted.")
    try:
        with archive.open(info) as file:
            return _read_at_most(file, most)
    except UnreadableFile:
        raise
    except Exception as error:  # zlib, bz2 and lzma have their own error classes
        raise UnreadableFile("The zip is damaged.") from error


def _has_times_of_download(infos: Sequence[zipfile.ZipInfo], zone: ZoneInfo | None) -> bool:
    named = (info for info in infos if any(map(read_platform_name, PurePosixPath(info.filename).parts[:2])))
    return _are_of_download([moment for info in named if (moment := _time_in_zip(info, zone)[0])])


def _are_of_download(times: Sequence[datetime]) -> bool:
    """Return whether the times are those of a download, written all at once, instead of submission times."""
    return bool(times) and max(times) - min(times) <= MAX_DOWNLOAD_TIME


def _time_in_zip(info: zipfile.ZipInfo, zone: ZoneInfo | None) -> Time:
    try:
        seconds = _seconds_in_extra(info.extra)
        time = datetime(*info.date_time) if seconds is None else None
        moment = in_zone(time, zone) if time else datetime.fromtimestamp(seconds or 0, UTC)
        return moment.astimezone(UTC), "time in the zip"
    except (ValueError, OverflowError, OSError):
        return None, "the zip has no time for it"


def _seconds_in_extra(extra: bytes) -> int | None:
    """Return the modification time in UTC seconds since 1970, or None if the zip has only a local time."""
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == EXTENDED_TIMESTAMP and size >= 5 and at + 9 <= len(extra) and extra[at + 4] & 1:
            return int(struct.unpack_from("<i", extra, at + 5)[0])
        at += 4 + size
    return None


def _read_at_most(file: IO[bytes], most: int) -> bytes:
    content = file.read(most + 1)
    if len(content) > most:
        raise UnreadableFile(f"The file is larger than {most >> 20} MB. Clear the outputs and submit it again.")
    return content


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name in SYSTEM_FOLDERS


def _is_same(path: Path, other: Path | None) -> bool:
    return other is not None and path.resolve() == other.resolve()
