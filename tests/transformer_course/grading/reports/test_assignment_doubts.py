"""Tests for detecting that a table from a learning platform belongs to a different lesson."""

from dataclasses import replace
from pathlib import Path

import pytest

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.exercises import exercises_of
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.reports.exports import merge_into_canvas, merge_into_moodle
from transformer_course.grading.reports.student_results import ClassResults

LESSONS = ("01_lookup", "02_scaling")
NAMES = ("ada", "ben", "cleo")
FIRST, SECOND = (sum(e.points for e in exercises_of(lesson)[:n]) for n, lesson in enumerate(LESSONS, 1))
"""Each student's points in each lesson."""


def two_weeks(first: str = "CS101-Week 1-4711.zip", second: str = "CS101-Week 2-4721.zip") -> ClassResults:
    """Return the results of two Moodle downloads, with the participant numbers 10 to 12 and 20 to 22."""
    graded = {}
    for n, name in enumerate(NAMES):
        graded[name] = []
        for week, (lesson, download) in enumerate(zip(LESSONS, (first, second), strict=True), 1):
            book = notebook(week, lesson=lesson, lms_id=f"{week}{n}", platform="Moodle", batch=str(week))
            path = Path(download, f"{name}_{week}{n}_assignsubmission_file_", f"{lesson}.ipynb")
            graded[name].append(replace(book, submission=replace(book.submission, path=path)))
    return class_results(graded)


def moodle(folder: Path, week: int, name: str = "grades.csv", grade: str = "") -> Path:
    rows = [f"Participant {week}{n},{name},{grade},10,\n" for n, name in enumerate(NAMES)]
    (folder / name).write_text("Identifier,Full name,Grade,Maximum Grade,Feedback comments\n" + "".join(rows))
    return folder / name


def canvas(folder: Path, column: str, *grades: float | str) -> Path:
    rows = [f"{name},{name},{grade}\n" for name, grade in zip(NAMES, grades or ("", "", ""), strict=True)]
    (folder / "gradebook.csv").write_text(f"Student,ID,{column} (4711)\n" + "".join(rows))
    return folder / "gradebook.csv"


def test_participant_numbers_distinguish_moodle_assignments(tmp_path: Path):
    results = two_weeks()
    for week, lesson in enumerate(LESSONS, 1):
        assert merge_into_moodle(moodle(tmp_path, week), results, lesson=lesson).doubts == []
    assert merge_into_moodle(moodle(tmp_path, 2), results, lesson="01_lookup").doubts == [
        "it has none of the participant numbers in the submissions for 01_lookup, but it has numbers from 02_scaling"
    ]
    assert merge_into_moodle(moodle(tmp_path, 3), results, lesson="01_lookup").doubts == [
        "it has none of the participant numbers in the submissions for 01_lookup"
    ]
    assert merge_into_moodle(moodle(tmp_path, 3), results).doubts == []  # the sum belongs to no lesson
    by_university = moodle(tmp_path, 3)
    by_university.write_text(by_university.read_text().replace("Participant ", "4711"))
    assert merge_into_moodle(by_university, results, lesson="01_lookup", columns={"id": "1"}).doubts == []


@pytest.mark.parametrize(
    ("column", "doubt"),
    [
        ("Week 1", ""),
        ("Week 3", ""),
        ("Lab 2", ""),
        ("Homework", ""),
        ("Lookup", ""),
        ("Lesson 1", ""),
        ("Lookup and scaling", ""),
        ("Week 2", "“Week 2” contains “week 2”, like the folder or zip with the submissions for 02_scaling"),
        ("Week 02", "“Week 02” contains “week 2”, like the folder or zip with the submissions for 02_scaling"),
        ("Scaling", "“Scaling” is a name of 02_scaling"),
        ("Lesson 02", "“Lesson 02” is a name of 02_scaling"),
        ("Masks", "“Masks” is a name of 04_masks"),
    ],
)
def test_column_title_identifies_the_lesson(tmp_path: Path, column: str, doubt: str):
    found = merge_into_canvas(canvas(tmp_path, column), two_weeks(), lesson="01_lookup", column=column).doubts
    assert found == ([doubt] if doubt else [])


def test_download_without_a_number_is_no_evidence(tmp_path: Path):
    results = two_weeks("submissions.zip", "week 2 submissions.zip")
    assert not merge_into_canvas(canvas(tmp_path, "Week 1"), results, lesson="01_lookup", column="Week 1").doubts


def test_worksheet_name_identifies_the_lesson(tmp_path: Path):
    path = moodle(tmp_path, 1, "Grades-CS101-Week 2-4721.csv")
    [doubt] = merge_into_moodle(path, two_weeks(), lesson="01_lookup").doubts
    assert doubt.startswith("“Grades-CS101-Week 2-4721” contains “4721” and “week 2”, like the folder or zip with")


def test_detects_grades_for_a_different_lesson(tmp_path: Path):
    assert FIRST != SECOND
    for grades, doubts in (
        ((SECOND,) * 3, ["it already contains the points from 02_scaling for 3 of 3 students"]),
        ((FIRST,) * 3, []),
        ((FIRST, SECOND, SECOND), []),
        ((SECOND, SECOND, ""), []),
        ((99, 98, 97), []),
    ):
        path = canvas(tmp_path, "Lab", *grades)
        assert merge_into_canvas(path, two_weeks(), lesson="01_lookup", column="Lab").doubts == doubts
