"""Read submission times from the file system, from zips, and from nbgrader's timestamp files."""

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
CLONE_TIME = "files in a Git clone have the time of cloning"
DOWNLOAD_TIME = "all files have the time of the download"
MAX_DOWNLOAD_TIME = timedelta(minutes=15)
"""If all times in a Canvas or Moodle download lie within this range, they are treated as download times."""
EXTENDED_TIMESTAMP = 0x5455
"""Id of the extra field that contains a zip member's time in UTC, because the standard field has no time zone."""


def modification_time(path: Path) -> Time:
    """Return a file's modification time from the file system. The file's content cannot change this time."""
    try:
        return datetime.fromtimestamp(path.lstat().st_mtime, UTC), "time of the file"
    except (OSError, ValueError, OverflowError):
        return None, "the file has no valid time"


def nbgrader_time(path: Path, zone: ZoneInfo | None) -> Time:
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
        local, time_zone = datetime.combine(written.day, written.clock), written.zone
        source = TIMESTAMP_FILE if time_zone else f"{TIMESTAMP_FILE}, read as UTC because it has no time zone"
        return local.replace(tzinfo=time_zone or UTC).astimezone(UTC), source
    except OSError as error:
        return None, f"{TIMESTAMP_FILE} cannot be read: {error.strerror}"
    except (ValueError, OverflowError) as error:
        return None, f"{TIMESTAMP_FILE} cannot be read: {_quoted(text)}, {error}"


def _quoted(text: str) -> str:
    return f"“{printable(' '.join(text.split()))[:MAX_TIME_LENGTH]}”"


def has_download_times(infos: Sequence[zipfile.ZipInfo], zone: ZoneInfo | None) -> bool:
    """Return whether a class zip contains download times instead of submission times."""
    named = (info for info in infos if any(map(read_platform_name, PurePosixPath(info.filename).parts[:2])))
    return are_download_times([moment for info in named if (moment := time_in_zip(info, zone)[0])])


def are_download_times(times: Sequence[datetime]) -> bool:
    """Return whether the times are so close together that they must be download times instead of submission times."""
    return bool(times) and max(times) - min(times) <= MAX_DOWNLOAD_TIME


def time_in_zip(info: zipfile.ZipInfo, zone: ZoneInfo | None) -> Time:
    """Return the modification time of a zip member."""
    try:
        seconds = _seconds_in_extra(info.extra)
        time = datetime(*info.date_time) if seconds is None else None
        moment = in_zone(time, zone) if time else datetime.fromtimestamp(seconds or 0, UTC)
        return moment.astimezone(UTC), "time in the zip"
    except (ValueError, OverflowError, OSError):
        return None, "the zip has no valid time for the file"


def _seconds_in_extra(extra: bytes) -> int | None:
    """Return the modification time in seconds since 1970 (UTC), or None if the zip contains only a local time."""
    at = 0
    while at + 4 <= len(extra):
        kind, size = struct.unpack_from("<HH", extra, at)
        if kind == EXTENDED_TIMESTAMP and size >= 5 and at + 9 <= len(extra) and extra[at + 4] & 1:
            return int(struct.unpack_from("<i", extra, at + 5)[0])
        at += 4 + size
    return None
