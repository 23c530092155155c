"""Tests for finding submission times that students cannot set, in folders, clones, downloads and zips."""

import os
import struct
import subprocess
import zipfile
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from tests.transformer_course.grading.incoming.test_submitted_files import LAYOUTS, NOTEBOOK, write_files, zipped
from transformer_course.grading.incoming.submissions import find_submissions


def git(folder: Path, *command: str) -> None:
    subprocess.run(["git", "-C", str(folder), *command], check=True, capture_output=True)


def test_uses_file_time_unless_a_better_time_exists(tmp_path: Path):
    noon = datetime(2026, 10, 12, 12, tzinfo=UTC)
    for layout in ("a folder per student", "nbgrader", "GitHub Classroom"):
        for path in write_files(tmp_path / layout, LAYOUTS[layout]).rglob("*"):
            os.utime(path, (noon.timestamp(), noon.timestamp()))
    times = {
        layout: {
            submission.student: (submission.handed_in, submission.time_source)
            for submission in find_submissions([tmp_path / layout])
        }
        for layout in ("a folder per student", "nbgrader", "GitHub Classroom")
    }
    of_file = ("2026-10-12T12:00:00+00:00", "time of the file")
    assert times["a folder per student"] == {"ada": of_file, "ben": of_file}
    assert times["nbgrader"] == {"ada": ("2026-10-12T15:58:23+00:00", "timestamp.txt"), "ben": of_file}
    assert set(times["GitHub Classroom"].values()) == {("", "files in a Git clone have the time of cloning")}


@pytest.mark.parametrize("layout", ["Canvas", "Moodle", "Moodle, no folders"])
@pytest.mark.parametrize(
    ("minutes", "source"), [(10, "all files have the time of the download"), (20, "time of the file")]
)
def test_ignores_close_times_in_unpacked_download(tmp_path: Path, layout: str, minutes: int, source: str):
    write_files(tmp_path / "class", LAYOUTS[layout])
    for name in LAYOUTS[layout]:
        moment = 1_791_820_800 + 60 * minutes * name.startswith("ben")
        os.utime(tmp_path / "class" / name, (moment, moment))
    assert {submission.time_source for submission in find_submissions([tmp_path / "class"])} == {source}


def test_parent_repository_does_not_affect_untracked_files(tmp_path: Path):
    """In the instructor's guide, the submissions are untracked files inside a clone of the course."""
    files = {
        f"{folder}/{name}/01_lookup.ipynb": NOTEBOOK for folder in ("handed-in", "kept") for name in ("ada", "ben")
    }
    write_files(tmp_path, files)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "kept", "handed-in/ben")
    sources = {
        folder: {submission.student: submission.time_source for submission in find_submissions([tmp_path / folder])}
        for folder in ("handed-in", "kept")
    }
    cloned = "files in a Git clone have the time of cloning"
    assert sources["handed-in"] == {"ada": "time of the file", "ben": cloned}
    assert sources["kept"] == {"ada": cloned, "ben": cloned}


@pytest.mark.parametrize("parts", [("ada",), ("class", "ada")])
def test_uncommitted_notebooks_in_student_repository_keep_file_times(tmp_path: Path, parts: tuple[str, ...]):
    ada = tmp_path.joinpath(*parts)
    write_files(ada, {"01_lookup.ipynb": NOTEBOOK, "README.txt": b""})
    git(ada, "init", "-q")
    git(ada, "add", "README.txt")
    assert {submission.time_source for submission in find_submissions([tmp_path / parts[0]]) if submission.lesson} == {
        "time of the file"
    }
    git(ada, "add", ".")
    assert {submission.time_source for submission in find_submissions([tmp_path / parts[0]]) if submission.lesson} == {
        "files in a Git clone have the time of cloning"
    }


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2026-10-12 17:58:23.948203 CEST", "timestamp.txt"),
        ("\ufeff2026-10-12 15:58:23.948203 UTC\r\n", "timestamp.txt"),
        ("2026-10-12 11:58:23 EDT", "timestamp.txt"),
        ("2026-10-12 15:58:23 GMT", "timestamp.txt"),
        ("2026-10-12 17:58:23 Europe/Berlin", "timestamp.txt"),
        ("2026-10-12 17:58:23 +0200", "timestamp.txt"),
        ("2026-10-12 15:58:23", "timestamp.txt, read as UTC because it has no time zone"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_reads_timestamp_with_its_time_zone(tmp_path: Path, stamp: str, expected: str, encoding: str):
    folder = tmp_path / "submitted" / "ada" / "hw"
    write_files(folder, {"01_lookup.ipynb": NOTEBOOK, "timestamp.txt": stamp.lstrip("\ufeff" * 2).encode(encoding)})
    [ada] = find_submissions([tmp_path])
    assert (ada.handed_in, ada.time_source) == ("2026-10-12T15:58:23+00:00", expected)


@pytest.mark.parametrize(
    ("stamp", "reason"),
    [
        (b"", "timestamp.txt is empty"),
        (b" \r\n", "timestamp.txt is empty"),
        (b"\xef\xbb\xbf", "timestamp.txt is empty"),
        (b"soon", "timestamp.txt cannot be read: “soon”, 'soon' is not a date such as 2026-10-12"),
        (b"2026-10-12", "timestamp.txt has no time of day: “2026-10-12”"),
        (
            b"2026-10-12 15:58 IST",
            "timestamp.txt cannot be read: “2026-10-12 15:58 IST”, the time zone 'IST' is unknown",
        ),
        (b"2026-10-12 25:58 UTC", "timestamp.txt cannot be read: "),
        (b"\xff\xfe2", "timestamp.txt cannot be read: "),
        (bytes(5000), "timestamp.txt cannot be read: "),
    ],
)
def test_reports_unreadable_timestamp(tmp_path: Path, stamp: bytes, reason: str):
    folder = tmp_path / "submitted" / "ada" / "hw"
    write_files(folder, {"01_lookup.ipynb": NOTEBOOK, "timestamp.txt": stamp})
    [ada] = find_submissions([tmp_path])
    assert ada.handed_in == "" and ada.time_source.startswith(reason)


def test_utc_time_in_a_zip_takes_precedence(tmp_path: Path):
    info = zipfile.ZipInfo("ada/01_lookup.ipynb", (2026, 10, 13, 1, 0, 0))  # local time in an unknown time zone
    moment = datetime(2026, 10, 12, 15, 58, 23, tzinfo=UTC)
    info.extra = struct.pack("<HHBi", 0x5455, 5, 1, int(moment.timestamp()))
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr(info, NOTEBOOK)
        archive.writestr(zipfile.ZipInfo("ben/01_lookup.ipynb", (2026, 10, 12, 17, 58, 23)), NOTEBOOK)
    ada, ben = find_submissions([tmp_path / "class.zip"], zone=ZoneInfo("Europe/Berlin"))
    assert datetime.fromisoformat(ada.handed_in) == moment
    assert datetime.fromisoformat(ben.handed_in) == moment.replace(second=22)  # a zip can store only even seconds


def test_ignores_times_that_students_can_set(tmp_path: Path):
    noon = datetime(2026, 10, 14, 12, tzinfo=UTC)
    early = b"2026-10-01 00:00:00.000000 UTC"
    files = {
        "eve/timestamp.txt": early,
        "eve/01_lookup.ipynb": NOTEBOOK,
        "eve/01_lookup/timestamp.txt": early,
        "eve/.git/HEAD": b"",
        "zoe.zip": zipped({"01_lookup.ipynb": NOTEBOOK, "timestamp.txt": early}),
    }
    nbgrader = {
        f"submitted/eve/01_lookup/{name}": data
        for name, data in {"x/timestamp.txt": early, "x/a.ipynb": NOTEBOOK}.items()
    }
    of_file = (noon.isoformat(), "time of the file")
    for layout, content in (("class", files), ("course", nbgrader)):
        for path in write_files(tmp_path / layout, content).rglob("*"):
            os.utime(path, (noon.timestamp(), noon.timestamp()))
        assert {
            (submission.handed_in, submission.time_source) for submission in find_submissions([tmp_path / layout])
        } == {of_file}
    assert [
        submission.handed_in for submission in find_submissions([tmp_path / "class" / "zoe.zip"], is_student=bool)
    ] == [of_file[0]]
    # The times in a class zip are submission times, but the times in a student's own zip inside it are not.
    (tmp_path / "all.zip").write_bytes(zipped(files))
    assert {submission.time_source for submission in find_submissions([tmp_path / "all.zip"])} == {"time in the zip"}
    inner = zipped({"01_lookup.ipynb": NOTEBOOK})
    with zipfile.ZipFile(tmp_path / "later.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo("zoe_12345_67890_a.zip", (2026, 10, 20, 9, 30, 0)), inner)
        archive.writestr(zipfile.ZipInfo("ben_12346_67891_a.zip", (2026, 10, 20, 9, 45, 2)), inner)
    zoe = find_submissions([tmp_path / "later.zip"])[0]
    assert datetime.fromisoformat(zoe.handed_in) == datetime(2026, 10, 20, 9, 30).astimezone()
