"""Notebooks are found in folders and zips as the systems of universities let them be downloaded."""

import io
import os
import stat
import struct
import subprocess
import warnings
import zipfile
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from transformer_course.grading.incoming import submissions, zip_files
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.incoming.submissions import find_submissions

NOTEBOOK = nbformat.writes(new_notebook(cells=[new_code_cell("check(softmax)", id="check-softmax")])).encode()


def zipped(files: Mapping[str, bytes]) -> bytes:
    """Return a zip with these files."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name, (2026, 10, 12, 9, 30, 0)), data, zipfile.ZIP_DEFLATED)
    return content.getvalue()


def write_files(folder: Path, files: Mapping[str, bytes]) -> Path:
    """Write files into a folder."""
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
    return folder


def described(found: list[Submission]) -> set[tuple[str, str, str]]:
    """Return whose each submission is, its lesson, and its problem."""
    return {(one.student, one.lesson, one.problem) for one in found}


LAYOUTS = {
    "a folder per student": {"ada/01_lookup.ipynb": NOTEBOOK, "ben/01_lookup.ipynb": NOTEBOOK},
    "nbgrader": {
        "submitted/ada/01_lookup/01_lookup.ipynb": NOTEBOOK,
        "submitted/ada/01_lookup/timestamp.txt": b"2026-10-12 15:58:23.948203 UTC",
        "submitted/ben/01_lookup/01_lookup.ipynb": NOTEBOOK,
        "source/01_lookup/01_lookup.ipynb": NOTEBOOK,
        "release/01_lookup/01_lookup.ipynb": NOTEBOOK,
    },
    "Canvas": {
        "ada_LATE_12345_67890_01_lookup-1.ipynb": NOTEBOOK,
        "ben_12346_67891_01_lookup.ipynb": NOTEBOOK,
    },
    "Canvas, zips": {
        "ada_LATE_12345_67890_my lessons.zip": zipped({"01_lookup.ipynb": NOTEBOOK, "__MACOSX/._x.ipynb": b""}),
        "ben_12346_67891_01_lookup.ipynb": NOTEBOOK,
    },
    "Moodle": {
        "ada_98765_assignsubmission_file_/01_lookup.ipynb": NOTEBOOK,
        "ben_98766_assignsubmission_file_/week 1/01_lookup.ipynb": NOTEBOOK,
    },
    "Moodle, no folders": {
        "ada_98765_assignsubmission_file_01_lookup.ipynb": NOTEBOOK,
        "ben_98766_assignsubmission_file_01_lookup.ipynb": NOTEBOOK,
    },
    "GitHub Classroom": {
        "lookup-ada/01_lookup.ipynb": NOTEBOOK,
        "lookup-ada/.git/HEAD": b"",
        "lookup-ben/01_lookup.ipynb": NOTEBOOK,
        "lookup-ben/.git/HEAD": b"",
    },
    "zips of students": {
        "ada.zip": zipped({"ada/01_lookup.ipynb": NOTEBOOK}),
        "ben.zip": zipped({"01_lookup.ipynb": NOTEBOOK}),
    },
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_gives_each_student_their_notebook(tmp_path: Path, layout: str):
    found = find_submissions([write_files(tmp_path / "class", LAYOUTS[layout])])
    assert described(found) == {("ada", "01_lookup", ""), ("ben", "01_lookup", "")} and len(found) == 2
    assert {one.student for one in found if one.is_marked_late} == ({"ada"} if "Canvas" in layout else set())
    assert {one.lms_id != "" for one in found} == {"Canvas" in layout or "Moodle" in layout}


@pytest.mark.parametrize("layout", sorted(LAYOUTS.keys() - {"nbgrader", "GitHub Classroom"}))
@pytest.mark.parametrize("folder", ["", "class/"])
def test_zip_gives_the_same_result_without_unpacking(tmp_path: Path, layout: str, folder: str):
    (tmp_path / "class.zip").write_bytes(zipped({f"{folder}{name}": data for name, data in LAYOUTS[layout].items()}))
    found = find_submissions([tmp_path / "class.zip"])
    assert described(found) == {("ada", "01_lookup", ""), ("ben", "01_lookup", "")} and len(found) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["class.zip"]
    assert all(one.path.is_relative_to(tmp_path / "class.zip") for one in found)
    source = "all files have the time of the download" if layout[:6] in ("Canvas", "Moodle") else ""
    assert {one.time_source for one in found} == {source or "time in the zip"}


def test_reads_zips_of_github_and_nbgrader(tmp_path: Path):
    classroom = {"lookup-submissions/lookup-ada/01_lookup.ipynb": NOTEBOOK}
    (tmp_path / "lookup-submissions.zip").write_bytes(zipped(classroom))
    (tmp_path / "submitted.zip").write_bytes(zipped({"submitted/ben/01_lookup/01_lookup.ipynb": NOTEBOOK}))
    found = find_submissions([tmp_path / "lookup-submissions.zip", tmp_path / "submitted.zip"])
    assert described(found) == {("ada", "01_lookup", ""), ("ben", "01_lookup", "")}


def test_time_is_the_files_unless_a_better_one_is_known(tmp_path: Path):
    noon = datetime(2026, 10, 12, 12, tzinfo=UTC)
    for layout in ("a folder per student", "nbgrader", "GitHub Classroom"):
        for path in write_files(tmp_path / layout, LAYOUTS[layout]).rglob("*"):
            os.utime(path, (noon.timestamp(), noon.timestamp()))
    times = {
        layout: {one.student: (one.handed_in, one.time_source) for one in find_submissions([tmp_path / layout])}
        for layout in ("a folder per student", "nbgrader", "GitHub Classroom")
    }
    of_file = ("2026-10-12T12:00:00+00:00", "time of the file")
    assert times["a folder per student"] == {"ada": of_file, "ben": of_file}
    assert times["nbgrader"] == {"ada": ("2026-10-12T15:58:23+00:00", "timestamp.txt"), "ben": of_file}
    assert set(times["GitHub Classroom"].values()) == {("", "files in a Git clone have the time of cloning")}


def git(folder: Path, *command: str) -> None:
    subprocess.run(["git", "-C", str(folder), *command], check=True, capture_output=True)


@pytest.mark.parametrize("layout", ["Canvas", "Moodle", "Moodle, no folders"])
@pytest.mark.parametrize(
    ("minutes", "source"), [(10, "all files have the time of the download"), (20, "time of the file")]
)
def test_unpacked_download_has_no_times_of_its_own(tmp_path: Path, layout: str, minutes: int, source: str):
    write_files(tmp_path / "class", LAYOUTS[layout])
    for name in LAYOUTS[layout]:
        moment = 1_791_820_800 + 60 * minutes * name.startswith("ben")
        os.utime(tmp_path / "class" / name, (moment, moment))
    assert {one.time_source for one in find_submissions([tmp_path / "class"])} == {source}


def test_parent_repository_does_not_affect_untracked_files(tmp_path: Path):
    """As in a clone of the course, where the instructors' guide collects submissions."""
    files = {
        f"{folder}/{name}/01_lookup.ipynb": NOTEBOOK for folder in ("handed-in", "kept") for name in ("ada", "ben")
    }
    write_files(tmp_path, files)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "kept", "handed-in/ben")
    sources = {
        folder: {one.student: one.time_source for one in find_submissions([tmp_path / folder])}
        for folder in ("handed-in", "kept")
    }
    cloned = "files in a Git clone have the time of cloning"
    assert sources["handed-in"] == {"ada": "time of the file", "ben": cloned}
    assert sources["kept"] == {"ada": cloned, "ben": cloned}


@pytest.mark.parametrize("parts", [("ada",), ("class", "ada")])
def test_students_own_repository_keeps_file_times(tmp_path: Path, parts: tuple[str, ...]):
    ada = tmp_path.joinpath(*parts)
    write_files(ada, {"01_lookup.ipynb": NOTEBOOK, "README.txt": b""})
    git(ada, "init", "-q")
    git(ada, "add", "README.txt")
    assert {one.time_source for one in find_submissions([tmp_path / parts[0]]) if one.lesson} == {"time of the file"}
    git(ada, "add", ".")
    assert {one.time_source for one in find_submissions([tmp_path / parts[0]]) if one.lesson} == {
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
        ("2026-10-12 15:58:23", "timestamp.txt, read as UTC because it names no time zone"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_timestamp_is_read_with_its_zone(tmp_path: Path, stamp: str, expected: str, encoding: str):
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
def test_unreadable_timestamp_is_reported(tmp_path: Path, stamp: bytes, reason: str):
    folder = tmp_path / "submitted" / "ada" / "hw"
    write_files(folder, {"01_lookup.ipynb": NOTEBOOK, "timestamp.txt": stamp})
    [ada] = find_submissions([tmp_path])
    assert ada.handed_in == "" and ada.time_source.startswith(reason)


def test_utc_time_in_a_zip_takes_precedence(tmp_path: Path):
    info = zipfile.ZipInfo("ada/01_lookup.ipynb", (2026, 10, 13, 1, 0, 0))  # on some clock
    moment = datetime(2026, 10, 12, 15, 58, 23, tzinfo=UTC)
    info.extra = struct.pack("<HHBi", 0x5455, 5, 1, int(moment.timestamp()))
    with zipfile.ZipFile(tmp_path / "class.zip", "w") as archive:
        archive.writestr(info, NOTEBOOK)
        archive.writestr(zipfile.ZipInfo("ben/01_lookup.ipynb", (2026, 10, 12, 17, 58, 23)), NOTEBOOK)
    ada, ben = find_submissions([tmp_path / "class.zip"], zone=ZoneInfo("Europe/Berlin"))
    assert datetime.fromisoformat(ada.handed_in) == moment
    assert datetime.fromisoformat(ben.handed_in) == moment.replace(second=22)  # a zip has even seconds


def test_students_of_one_name_are_distinguished_by_number(tmp_path: Path):
    files = {"lina_12345_1111_01_lookup.ipynb": NOTEBOOK, "lina_54321_2222_01_lookup.ipynb": NOTEBOOK}
    found = find_submissions([write_files(tmp_path, files)])
    assert described(found) == {("lina (12345)", "01_lookup", ""), ("lina (54321)", "01_lookup", "")}
    assert {one.student: one.remark for one in found} == {
        "lina (12345)": "2 students are called “lina”.",
        "lina (54321)": "2 students are called “lina”.",
    }


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


LEADS_OUT = "The path of this file leads out of the zip, so it was not read."


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("../evil.ipynb", LEADS_OUT),
        ("ada/../../evil.ipynb", LEADS_OUT),
        ("/tmp/evil.ipynb", LEADS_OUT),
        ("..\\evil.ipynb", LEADS_OUT),
        ("C:\\evil.ipynb", LEADS_OUT),
        (link("evil.ipynb"), "This is a link, and links are not followed."),
        ("/".join(["a"] * 12) + "/evil.ipynb", "This file is more than 8 folders deep."),
    ],
)
def test_path_out_of_a_zip_is_reported_and_not_read(tmp_path: Path, name: str, message: str):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(name, NOTEBOOK)
        archive.writestr("01_lookup.ipynb", NOTEBOOK)
    write_files(tmp_path / "class", {"eve.zip": content.getvalue(), "ada/01_lookup.ipynb": NOTEBOOK})
    assert described(find_submissions([tmp_path / "class"])) == {
        ("ada", "01_lookup", ""),
        ("eve", "01_lookup", ""),
        ("eve", "", message),
    }
    assert {path.name for path in tmp_path.rglob("*")} == {"class", "eve.zip", "ada", "01_lookup.ipynb"}


def test_first_of_two_files_with_one_name_is_read(tmp_path: Path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile has noticed, too
        archive.writestr("01_lookup.ipynb", NOTEBOOK)
        archive.writestr("01_lookup.ipynb", b"")
    found = find_submissions([write_files(tmp_path / "class", {"eve.zip": content.getvalue()})])
    assert described(found) == {
        ("eve", "01_lookup", ""),
        ("eve", "", "The zip has two files with this name; the first one was read."),
    }


def test_zip_bomb_is_reported_without_using_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(zip_files, "MAX_NOTEBOOK_BYTES", 1 << 20)
    monkeypatch.setattr(zip_files, "MAX_INNER_ZIP_BYTES", 1 << 20)
    bomb = {"01_lookup.ipynb": bytes(2 << 20), "inner.zip": bytes(2 << 20)}
    [notebook, inner] = find_submissions([write_files(tmp_path / "class", {"eve.zip": zipped(bomb)})])
    assert notebook.problem == inner.problem == "The file is larger than 1 MB. Clear the outputs and submit it again."


def test_nested_zips_are_read_once(tmp_path: Path):
    one = zipped({"01_lookup.ipynb": NOTEBOOK})
    two, three = zipped({"week 1.zip": one}), zipped({"all.zip": zipped({"week 1.zip": one})})
    found = find_submissions([write_files(tmp_path / "class", {"ada.zip": two, "eve.zip": three})])
    assert described(found) == {
        ("ada", "01_lookup", ""),
        ("eve", "", "This zip is inside a zip inside a zip, so it was not read."),
    }


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "The file is damaged: it is not a zip."),
        (b"PK\5\6" + bytes(18) + b"tail", "there is no notebook in"),
        (zipped(LAYOUTS["a folder per student"])[:-40], "is not a zip|is damaged"),
        (zipped(LAYOUTS["a folder per student"]).replace(b"PK\1\2", b"PK\1\3"), "The zip is damaged."),
    ],
)
def test_corrupted_zip_is_reported(tmp_path: Path, content: bytes, message: str):
    path = write_files(tmp_path, {"class.zip": content}) / "class.zip"
    try:
        [found] = find_submissions([path])
        problem = found.problem
    except ValueError as error:
        problem = str(error)
    assert any(part in problem for part in message.split("|")), problem


def test_corrupted_member_and_long_directory_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    whole = zipped({"01_lookup.ipynb": NOTEBOOK})
    at = whole.index(b"01_lookup.ipynb") + len(b"01_lookup.ipynb")
    (tmp_path / "ada.zip").write_bytes(whole[: at + 5] + b"\xff\xff\xff\xff" + whole[at + 9 :])
    assert find_submissions([tmp_path / "ada.zip"])[0].problem == "The zip is damaged."
    monkeypatch.setattr(zip_files, "MAX_DIRECTORY_BYTES", 20)
    assert find_submissions([tmp_path / "ada.zip"])[0].problem == "The zip has too many files."


@pytest.mark.parametrize("where", ["folder", "zip"])
@pytest.mark.parametrize("name", ["{}_9876{}_555_", "{}_9876{}_assignsubmission_file_/", "{}{}/"])
def test_every_kind_of_file_has_a_descriptive_row(tmp_path: Path, where: str, name: str):
    content = {
        "01_lookup.html": b"<html>",
        "01_lookup.py": b"1",
        "my answers.pdf": b"%PDF",
        "lookup.IPYNB": NOTEBOOK,
        "all.7z": b"7z",
        "empty.zip": zipped({}),
        "no notebook.zip": zipped({"x.py": b""}),
        "odd comment.zip": zipped({"01_lookup.ipynb": NOTEBOOK}) + b"PK\5\6" + bytes(18),
        "noname": b"",
    }
    files = {name.format(f"student{n}", n) + file: data for n, (file, data) in enumerate(content.items())}
    if where == "zip":
        (tmp_path / "class.zip").write_bytes(zipped(files))
        found = find_submissions([tmp_path / "class.zip"])
    else:
        found = find_submissions([write_files(tmp_path / "class", files)])
    problems = sorted(one.problem.partition(":")[0] for one in found)
    assert len({one.student for one in found}) == len(found) == len(content)
    assert problems == [
        "",
        *["There is no notebook to grade in this zip."] * 2,
        "This is not a notebook",
        *(f"This is not a notebook ({suffix})" for suffix in (".7z", ".html", ".pdf", ".py", ".py")),
    ]


def test_other_files_are_listed_without_penalty(tmp_path: Path):
    files = {"ada/01_lookup.ipynb": NOTEBOOK, "ada/02_scaling.HTML": b"", "ada/a.py": b"", "ada/x/.DS_Store": b""}
    more = {f"ben/{n}.png": b"" for n in range(5)} | {"ben/01_lookup.ipynb": NOTEBOOK, "ben/Thumbs.db": b""}
    ada, ben = find_submissions([write_files(tmp_path / "class", files | more)])
    assert ada.beside == "Also submitted, but not a notebook: 02_scaling.HTML and a.py." and ada.problem == ""
    assert ben.beside == "Also submitted, but not a notebook: 0.png, 1.png, 2.png and 2 more."
    [alone] = find_submissions([tmp_path / "class" / "ada"])
    assert (alone.student, alone.beside) == ("ada", ada.beside)


def test_empty_folder_in_a_class_zip_is_a_student(tmp_path: Path):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("ada_98765_assignsubmission_file_/01_lookup.ipynb", NOTEBOOK)
        archive.writestr("ben_98766_assignsubmission_file_/", b"")
    (tmp_path / "class.zip").write_bytes(content.getvalue())
    assert described(find_submissions([tmp_path / "class.zip"])) == {
        ("ada", "01_lookup", ""),
        ("ben", "", "There is no notebook to grade in this folder."),
    }


def test_file_names_cannot_change_the_owner(tmp_path: Path):
    canvas = write_files(
        tmp_path / "canvas", {"eve_55555_66666_x_12345_assignsubmission_file_01_lookup.ipynb": NOTEBOOK}
    )
    assert [one.lms_id for one in find_submissions([canvas])] == ["55555"]
    theirs = zipped({"alice/01_lookup.ipynb": NOTEBOOK, "bob_12345_67890_01_lookup.ipynb": NOTEBOOK})
    zips = write_files(tmp_path / "zips", {"eve.zip": theirs, "ada.zip": zipped({"01_lookup.ipynb": NOTEBOOK})})
    both = [zips / "eve.zip", zips / "ada.zip"]
    assert {one.student for one in find_submissions(both)} == {"eve", "ada"}
    assert {one.student for one in find_submissions([zips])} == {"eve", "ada"}
    assert {one.student for one in find_submissions(both[:1], is_student=lambda name: name == "eve")} == {"eve"}
    folder = write_files(tmp_path / "eve", {"alice/01_lookup.ipynb": NOTEBOOK})
    assert {one.student for one in find_submissions([folder], is_student=lambda name: name == "eve")} == {"eve"}
    two = zipped({f"{name}_01_lookup.ipynb": NOTEBOOK for name in ("ada_12345_67890", "ben_12346_67891")})
    write_files(zips, {"week 1.zip": two})
    [ada, week] = find_submissions([zips / "ada.zip", zips / "week 1.zip"])
    assert (ada.problem, week.problem) == ("", submissions.SEVERAL_STUDENTS)
    names = {"2", "ada", "ben"}  # a folder is called like a student's number, and is that of the class
    write_files(tmp_path / "2", {f"{name}/01_lookup.ipynb": NOTEBOOK for name in ("ada", "ben")})
    [two_of_them] = find_submissions([tmp_path / "2"], is_student=names.__contains__)
    assert (two_of_them.student, two_of_them.problem) == ("2", submissions.SEVERAL_STUDENTS)


@pytest.mark.parametrize(
    "names",
    [
        ("ada_12345_678_01_lookup.ipynb", "ben_12346_679_01_lookup.ipynb"),
        ("Ada L_12345_assignsubmission_file_/01_lookup.ipynb", "Ben_12346_assignsubmission_file_/01_lookup.ipynb"),
    ],
)
def test_class_download_in_a_folder_is_not_one_student(tmp_path: Path, names: tuple[str, str]):
    download = zipped(dict.fromkeys(names, NOTEBOOK))
    week_1 = write_files(tmp_path / "handed-in", {"submissions.zip": download, ".DS_Store": b""})
    assert sorted(one.lms_id for one in find_submissions([week_1])) == ["12345", "12346"]
    for folder, files in {
        "zip": {"CS-Lesson 1-777.zip": download},
        "folder": {f"week 1/{name}": NOTEBOOK for name in names},
    }.items():
        found = find_submissions([write_files(tmp_path / folder, files)])
        assert sorted(one.lms_id for one in found) == ["12345", "12346"]
    alone = {"submissions.zip": download, "ada.zip": zipped({"01_lookup.ipynb": NOTEBOOK})}
    found = find_submissions([write_files(tmp_path / "zips of students", alone)])
    assert {one.student: one.problem for one in found} == {"ada": "", "submissions": submissions.SEVERAL_STUDENTS}


def test_times_students_can_set_are_ignored(tmp_path: Path):
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
        assert {(one.handed_in, one.time_source) for one in find_submissions([tmp_path / layout])} == {of_file}
    assert [one.handed_in for one in find_submissions([tmp_path / "class" / "zoe.zip"], is_student=bool)] == [
        of_file[0]
    ]
    (tmp_path / "all.zip").write_bytes(
        zipped(files)
    )  # which says when each was handed in, and the student's own does not
    assert {one.time_source for one in find_submissions([tmp_path / "all.zip"])} == {"time in the zip"}
    inner = zipped({"01_lookup.ipynb": NOTEBOOK})
    with zipfile.ZipFile(tmp_path / "later.zip", "w") as archive:
        archive.writestr(zipfile.ZipInfo("zoe_12345_67890_a.zip", (2026, 10, 20, 9, 30, 0)), inner)
        archive.writestr(zipfile.ZipInfo("ben_12346_67891_a.zip", (2026, 10, 20, 9, 45, 2)), inner)
    zoe = find_submissions([tmp_path / "later.zip"])[0]
    assert datetime.fromisoformat(zoe.handed_in) == datetime(2026, 10, 20, 9, 30).astimezone()


def test_class_like_zip_name_submits_only_for_its_student(tmp_path: Path):
    (tmp_path / "alice.zip").write_bytes(zipped({"01_lookup.ipynb": NOTEBOOK}))
    (tmp_path / "eve-submissions.zip").write_bytes(zipped({"alice/01_lookup.ipynb": NOTEBOOK}))
    found = find_submissions([tmp_path / "alice.zip", tmp_path / "eve-submissions.zip"])
    assert {one.student: one.path.parts[-3:][0] for one in found} == {
        "alice": tmp_path.name,
        "eve-submissions": "eve-submissions.zip",
    }


def test_only_system_files_are_skipped(tmp_path: Path):
    for name in ("eve/__MACOSX/01_lookup.ipynb", "__ann/__01_lookup.ipynb"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(NOTEBOOK)
    found = {one.student: one.problem for one in find_submissions([tmp_path])}
    assert found == {"__ann": "", "eve": "There is no notebook to grade in this folder."}
