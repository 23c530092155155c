"""Submission times: of files, of members of zips, and in nbgrader's timestamp files."""

import struct
import zipfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path, PurePosixPath
from zoneinfo import ZoneInfo

from transformer_course.grading.incoming.platform_names import read_platform_name
from transformer_course.grading.incoming.printable_text import printable
from transformer_course.grading.incoming.tables import decode
from transformer_course.grading.incoming.written_time import MAX_TIME_LENGTH, in_zone, read_time

Time = tuple[datetime | None, str]
"""The submission time and its source, or None and the reason why it is unknown."""
TIMESTAMP_FILE = "timestamp.txt"
"""The file next to a submission in which nbgrader stores the submission time."""
TIME_OF_CLONE = "files in a Git clone have the time of cloning"
TIME_OF_DOWNLOAD = "all files have the time of the download"
MAX_DOWNLOAD_TIME = timedelta(minutes=15)
"""If all times in a Canvas or Moodle download are within this range, they are download times."""
EXTENDED_TIMESTAMP = 0x5455
"""The zip extra field with the time in UTC, in addition to the time in an unknown time zone."""


def time_of(path: Path) -> Time:
    """Return the modification time of a file or zip from the file system, which its content cannot influence."""
    try:
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC), "time of the file"
    except (OSError, ValueError, OverflowError):
        return None, "the file has no time"


def noted_time(path: Path, zone: ZoneInfo | None) -> Time:
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


def has_times_of_download(infos: Sequence[zipfile.ZipInfo], zone: ZoneInfo | None) -> bool:
    """Return whether the times in a zip of a class are those of the download instead of submission times."""
    named = (info for info in infos if any(map(read_platform_name, PurePosixPath(info.filename).parts[:2])))
    return are_of_download([moment for info in named if (moment := time_in_zip(info, zone)[0])])


def are_of_download(times: Sequence[datetime]) -> bool:
    """Return whether the times are those of a download, written all at once, instead of submission times."""
    return bool(times) and max(times) - min(times) <= MAX_DOWNLOAD_TIME


def time_in_zip(info: zipfile.ZipInfo, zone: ZoneInfo | None) -> Time:
    """Return the modification time that a zip gives for one of its members."""
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
