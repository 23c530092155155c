"""Feedback goes back to Canvas in files that carry the numbers of what was handed in."""

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import nbformat

from tests.transformer_course.grading.sample_results import notebook
from transformer_course.grading.reports.canvas_feedback import canvas_feedback
from transformer_course.grading.reports.class_results import class_results

ADA = "lovelaceada_LATE_12345_67890_01_lookup-1.ipynb"
BEN = "ben_12346_67891_my work.zip"


def test_each_page_is_a_file_of_the_kind_and_name_that_canvas_gave_out():
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


def test_the_same_pages_give_the_same_zip():
    students = class_results({"ada": [notebook(1, file=ADA)]}).students
    assert canvas_feedback(students) == canvas_feedback(students) and canvas_feedback([])[1] == 0
