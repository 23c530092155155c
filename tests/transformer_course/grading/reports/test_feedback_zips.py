"""Tests for feedback zips whose file names contain the numbers by which Canvas and Moodle identify students."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import nbformat

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.reports.feedback_zips import canvas_feedback, moodle_feedback

ADA = "lovelaceada_LATE_12345_67890_01_lookup-1.ipynb"
BEN = "ben_12346_67891_my work.zip"


def test_canvas_pages_keep_the_submitted_file_names():
    in_zip = notebook(2)
    in_zip = replace(in_zip, submission=replace(in_zip.submission, path=Path("x", BEN, "week 1", "01_lookup.ipynb")))
    graded = {"ada": [notebook(1, file=ADA)], "ben": [in_zip], "eve": [notebook(1, file="01_lookup.ipynb")]}
    content, n = canvas_feedback(class_results(graded).students)
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert (n, archive.namelist()) == (2, [ADA, BEN])
        book = nbformat.reads(archive.read(ADA).decode(), as_version=4)
        with zipfile.ZipFile(io.BytesIO(archive.read(BEN))) as inner:
            assert "<h1>ben</h1>" in inner.read("feedback.html").decode()
    nbformat.validate(book)
    assert "<h1>ada</h1>" in book.cells[0].outputs[0].data["text/html"]


def test_same_pages_produce_the_same_zip():
    students = class_results({"ada": [notebook(1, file=ADA)]}).students
    assert canvas_feedback(students) == canvas_feedback(students) and canvas_feedback([])[1] == 0


def test_moodle_pages_are_in_folders_that_moodle_recognizes():
    """Moodle's ``importziplib.php`` splits a name at underscores into at most five parts."""
    graded = {"ada": [notebook(1)], "ben": [notebook(2), notebook(2, lesson="02_scaling", file="02_scaling.ipynb")]}
    ada, ben = class_results(graded).students
    rows = {Person("98765", "Ada_B. O'Neil/Ł"): ada, Person("98766"): ben, Person("x@uni.edu", "Eve"): ada}
    content, n = moodle_feedback(rows, "01_lookup")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        names = archive.namelist()
        assert (n, names) == (
            2,
            [
                "Ada B. O'Neil Ł_98765_assignsubmission_file_/feedback.html",
                "Participant_98766_assignsubmission_file_/feedback.html",
            ],
        )
        assert [name.split("_", 4)[1:] for name in names] == [
            [number, "assignsubmission", "file", "/feedback.html"] for number in ("98765", "98766")
        ]
        page = archive.read(names[1]).decode()
    assert "<h1>ben</h1>" in page and "01_lookup.ipynb" in page and "02_scaling" not in page


def test_canvas_zip_contains_feedback_on_exported_lesson():
    week_1, week_2 = ("ada_12345_1001_01_lookup.ipynb", "ada_12345_2002_02_scaling.ipynb")
    students = class_results(
        {"ada": [notebook(1, file=week_1), notebook(1, file=week_2, lesson="02_scaling")]}
    ).students
    content, _ = canvas_feedback(students, "02_scaling")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert archive.namelist() == [week_2] and b"01_lookup" not in archive.read(week_2)
