"""Tests for finding notebooks in folders and zips downloaded from learning platforms."""

import io
import zipfile
from collections.abc import Mapping
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from transformer_course.grading.incoming import submissions
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
    """Return each submission's student, lesson and problem."""
    return {(submission.student, submission.lesson, submission.problem) for submission in found}


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
def test_finds_all_student_notebooks_in_any_layout(tmp_path: Path, layout: str):
    found = find_submissions([write_files(tmp_path / "class", LAYOUTS[layout])])
    assert described(found) == {("ada", "01_lookup", ""), ("ben", "01_lookup", "")} and len(found) == 2
    assert {submission.student for submission in found if submission.is_marked_late} == (
        {"ada"} if "Canvas" in layout else set()
    )
    assert {submission.lms_id != "" for submission in found} == {"Canvas" in layout or "Moodle" in layout}


@pytest.mark.parametrize("layout", sorted(LAYOUTS.keys() - {"nbgrader", "GitHub Classroom"}))
@pytest.mark.parametrize("folder", ["", "class/"])
def test_zip_gives_the_same_result_without_unpacking(tmp_path: Path, layout: str, folder: str):
    (tmp_path / "class.zip").write_bytes(zipped({f"{folder}{name}": data for name, data in LAYOUTS[layout].items()}))
    found = find_submissions([tmp_path / "class.zip"])
    assert described(found) == {("ada", "01_lookup", ""), ("ben", "01_lookup", "")} and len(found) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["class.zip"]
    assert all(submission.path.is_relative_to(tmp_path / "class.zip") for submission in found)
    source = "all files have the time of the download" if layout[:6] in ("Canvas", "Moodle") else ""
    assert {submission.time_source for submission in found} == {source or "time in the zip"}


def test_reads_github_classroom_and_nbgrader_zips(tmp_path: Path):
    classroom = {"lookup-submissions/lookup-ada/01_lookup.ipynb": NOTEBOOK}
    (tmp_path / "lookup-submissions.zip").write_bytes(zipped(classroom))
    (tmp_path / "submitted.zip").write_bytes(zipped({"submitted/ben/01_lookup/01_lookup.ipynb": NOTEBOOK}))
    found = find_submissions([tmp_path / "lookup-submissions.zip", tmp_path / "submitted.zip"])
    assert described(found) == {("ada", "01_lookup", ""), ("ben", "01_lookup", "")}


def test_numbers_distinguish_students_with_same_name(tmp_path: Path):
    files = {"lina_12345_1111_01_lookup.ipynb": NOTEBOOK, "lina_54321_2222_01_lookup.ipynb": NOTEBOOK}
    found = find_submissions([write_files(tmp_path, files)])
    assert described(found) == {("lina (12345)", "01_lookup", ""), ("lina (54321)", "01_lookup", "")}
    assert {submission.student: submission.remark for submission in found} == {
        "lina (12345)": "2 students are called “lina”.",
        "lina (54321)": "2 students are called “lina”.",
    }


def test_lists_non_notebook_files_without_problem(tmp_path: Path):
    files = {"ada/01_lookup.ipynb": NOTEBOOK, "ada/02_scaling.HTML": b"", "ada/a.py": b"", "ada/x/.DS_Store": b""}
    more = {f"ben/{n}.png": b"" for n in range(5)} | {"ben/01_lookup.ipynb": NOTEBOOK, "ben/Thumbs.db": b""}
    ada, ben = find_submissions([write_files(tmp_path / "class", files | more)])
    assert ada.beside == "Other files that cannot be graded: 02_scaling.HTML and a.py." and ada.problem == ""
    assert ben.beside == "Other files that cannot be graded: 0.png, 1.png, 2.png and 2 more."
    [alone] = find_submissions([tmp_path / "class" / "ada"])
    assert (alone.student, alone.beside) == ("ada", ada.beside)


def test_file_names_cannot_change_the_submission_owner(tmp_path: Path):
    canvas = write_files(
        tmp_path / "canvas", {"eve_55555_66666_x_12345_assignsubmission_file_01_lookup.ipynb": NOTEBOOK}
    )
    assert [submission.lms_id for submission in find_submissions([canvas])] == ["55555"]
    forged = zipped({"alice/01_lookup.ipynb": NOTEBOOK, "bob_12345_67890_01_lookup.ipynb": NOTEBOOK})
    zips = write_files(tmp_path / "zips", {"eve.zip": forged, "ada.zip": zipped({"01_lookup.ipynb": NOTEBOOK})})
    both = [zips / "eve.zip", zips / "ada.zip"]
    assert {submission.student for submission in find_submissions(both)} == {"eve", "ada"}
    assert {submission.student for submission in find_submissions([zips])} == {"eve", "ada"}
    assert {submission.student for submission in find_submissions(both[:1], is_student=lambda name: name == "eve")} == {
        "eve"
    }
    folder = write_files(tmp_path / "eve", {"alice/01_lookup.ipynb": NOTEBOOK})
    assert {submission.student for submission in find_submissions([folder], is_student=lambda name: name == "eve")} == {
        "eve"
    }
    two = zipped({f"{name}_01_lookup.ipynb": NOTEBOOK for name in ("ada_12345_67890", "ben_12346_67891")})
    write_files(zips, {"week 1.zip": two})
    [ada, week] = find_submissions([zips / "ada.zip", zips / "week 1.zip"])
    assert (ada.problem, week.problem) == ("", submissions.SEVERAL_STUDENTS)
    names = {"2", "ada", "ben"}  # the name of the class folder is also a student number
    write_files(tmp_path / "2", {f"{name}/01_lookup.ipynb": NOTEBOOK for name in ("ada", "ben")})
    [class_folder] = find_submissions([tmp_path / "2"], is_student=names.__contains__)
    assert (class_folder.student, class_folder.problem) == ("2", submissions.SEVERAL_STUDENTS)


@pytest.mark.parametrize(
    "names",
    [
        ("ada_12345_678_01_lookup.ipynb", "ben_12346_679_01_lookup.ipynb"),
        ("Ada L_12345_assignsubmission_file_/01_lookup.ipynb", "Ben_12346_assignsubmission_file_/01_lookup.ipynb"),
    ],
)
def test_class_download_in_folder_has_several_students(tmp_path: Path, names: tuple[str, str]):
    download = zipped(dict.fromkeys(names, NOTEBOOK))
    week_1 = write_files(tmp_path / "handed-in", {"submissions.zip": download, ".DS_Store": b""})
    assert sorted(submission.lms_id for submission in find_submissions([week_1])) == ["12345", "12346"]
    for folder, files in {
        "zip": {"CS-Lesson 1-777.zip": download},
        "folder": {f"week 1/{name}": NOTEBOOK for name in names},
    }.items():
        found = find_submissions([write_files(tmp_path / folder, files)])
        assert sorted(submission.lms_id for submission in found) == ["12345", "12346"]
    alone = {"submissions.zip": download, "ada.zip": zipped({"01_lookup.ipynb": NOTEBOOK})}
    found = find_submissions([write_files(tmp_path / "zips of students", alone)])
    assert {submission.student: submission.problem for submission in found} == {
        "ada": "",
        "submissions": submissions.SEVERAL_STUDENTS,
    }


def test_student_zip_may_be_named_like_a_class(tmp_path: Path):
    (tmp_path / "alice.zip").write_bytes(zipped({"01_lookup.ipynb": NOTEBOOK}))
    (tmp_path / "eve-submissions.zip").write_bytes(zipped({"alice/01_lookup.ipynb": NOTEBOOK}))
    found = find_submissions([tmp_path / "alice.zip", tmp_path / "eve-submissions.zip"])
    assert {submission.student: submission.path.parts[-3:][0] for submission in found} == {
        "alice": tmp_path.name,
        "eve-submissions": "eve-submissions.zip",
    }
