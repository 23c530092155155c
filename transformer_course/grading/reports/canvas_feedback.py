"""Feedback pages as Canvas takes them for all students at once: a zip to be given to *Upload Submissions*.

Canvas tells whose a file is by the student's and the file's numbers in its name, which must be those of something that
the student handed in; it then shows the file as a comment, under the name that the student's own had. So a page is put
into a notebook where that was a notebook, and into a zip where it was a zip.
"""

import io
import json
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from transformer_course.grading.incoming.download_names import CANVAS_NAME
from transformer_course.grading.reports.class_results import StudentResult
from transformer_course.grading.reports.feedback import feedback_page

CANVAS_FEEDBACK_FILE = "canvas_feedback.zip"
ZIP_TIMESTAMP = (2026, 1, 1, 0, 0, 0)
"""The time of every file, so that the same pages give the same zip."""


def canvas_feedback(students: Sequence[StudentResult]) -> tuple[bytes, int]:
    """Return the zip, and how many students it has a page for: those who handed in through Canvas."""
    pages = {
        name: _like(name, feedback_page(student))
        for student in students
        if (name := next(_names_in_canvas(student), ""))
    }
    return _zipped(pages), len(pages)


def _zipped(files: Mapping[str, str | bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in files.items():
            archive.writestr(zipfile.ZipInfo(name, ZIP_TIMESTAMP), file)
    return content.getvalue()


def _names_in_canvas(student: StudentResult) -> Iterator[str]:
    """Yield the names under which Canvas gave out what a student handed in, first of what counts."""
    counted = [lesson.notebook for lesson in student.lessons.values() if lesson.notebook]
    for notebook in [*counted, *student.notebooks]:
        yield from (part for part in notebook.submission.path.parts if CANVAS_NAME.fullmatch(part))


def _like(name: str, page: str) -> bytes:
    """Return a page as a file of the kind that the name says."""
    suffix = name.rpartition(".")[2].lower()
    if suffix == "ipynb":
        return _as_notebook(page)
    if suffix == "zip":
        return _zipped({"feedback.html": page})
    return page.encode()


def _as_notebook(page: str) -> bytes:
    displayed = page.partition("<main>")[2].partition("</main>")[0]
    output: dict[str, Any] = {
        "output_type": "display_data",
        "metadata": {},
        "data": {"text/html": displayed.splitlines(keepends=True)},
    }
    cell: dict[str, Any] = {
        "cell_type": "code",
        "id": "feedback",
        "execution_count": None,
        "metadata": {},
        "source": "# Feedback",
    }
    book = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [{**cell, "outputs": [output]}]}
    return json.dumps(book, indent=1).encode()
