"""Pack all feedback pages into a zip for upload to Canvas or Moodle.

In Canvas, use *Upload Submissions*. Canvas identifies a student by the numbers in the name of a file that the student
submitted, and shows the uploaded file as a comment under the same name. So if the student submitted a notebook, the
page is stored in a notebook; if the student submitted a zip, the page is stored in a zip. A page with the name of a PDF
could not be opened, so a student who submitted only other files gets no page.

In Moodle, use *Upload multiple feedback files in a zip*. Moodle identifies a student by the assignment's participant
number in the name of the folder, ``NAME_NUMBER_assignsubmission_file_``, as in Moodle's *Download all submissions*.
"""

import io
import json
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from transformer_course.grading.incoming.platform_names import CANVAS_NAME
from transformer_course.grading.incoming.roster import Person
from transformer_course.grading.reports.feedback import feedback_page
from transformer_course.grading.reports.student_results import StudentResult

CANVAS_FEEDBACK_FILE = "canvas_feedback.zip"
MOODLE_FEEDBACK_FILE = "moodle_feedback.zip"
ZIP_TIMESTAMP = (2026, 1, 1, 0, 0, 0)
"""The time of every file in a zip; it is fixed, so that the same pages always produce the same zip."""
PAGE_SUFFIXES = {"ipynb", "zip", "html", "htm"}
"""The file extensions under which a page can be opened."""
UNSAFE_IN_FOLDER = re.compile(r"[^\w .,'()-]|_")
"""Characters that are removed from the name in a Moodle folder. An underscore would end the name."""


def canvas_feedback(students: Sequence[StudentResult], lesson: str = "") -> tuple[bytes, int]:
    """Return the zip for Canvas, and the number of pages in it. Only students with a file in Canvas get a page.

    Args:
        students: The students.
        lesson: The lesson that the pages cover; empty for all lessons.
    """
    pages = {}
    for student in (only_lesson(student, lesson) for student in students):
        if name := next(filter(_can_hold_page, _names_in_canvas(student)), ""):
            pages[name] = _in_file_format(name, feedback_page(student))
    return _zipped(pages), len(pages)


def without_canvas_feedback(students: Sequence[StudentResult], lesson: str = "") -> list[str]:
    """Return the names of students who submitted files through Canvas, but no file that can contain a page."""
    names = {student.name: list(_names_in_canvas(only_lesson(student, lesson))) for student in students}
    return [student for student, own in names.items() if own and not any(map(_can_hold_page, own))]


def moodle_feedback(found: Mapping[Person, StudentResult], lesson: str = "") -> tuple[bytes, int]:
    """Return the zip for Moodle, and the number of pages in it. Only students with a participant number get a page.

    Args:
        found: The students, keyed by the person in Moodle's worksheet, whose id is the participant number.
        lesson: The lesson that the pages cover; empty for all lessons.
    """
    pages = {}
    for person, student in found.items():
        if person.id.isdecimal():
            name = " ".join(UNSAFE_IN_FOLDER.sub(" ", person.name).split()) or "Participant"
            page = feedback_page(only_lesson(student, lesson))
            pages[f"{name}_{person.id}_assignsubmission_file_/feedback.html"] = page
    return _zipped(pages), len(pages)


def only_lesson(student: StudentResult, lesson: str) -> StudentResult:
    """Return a student's results for one lesson, or for all lessons if ``lesson`` is empty."""
    if not lesson:
        return student
    return replace(
        student,
        notebooks=[notebook for notebook in student.notebooks if notebook.lesson in (lesson, "")],
        lessons={name: result for name, result in student.lessons.items() if name == lesson},
        written=[answer for answer in student.written if answer.lesson == lesson],
    )


def _zipped(files: Mapping[str, str | bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, file in files.items():
            archive.writestr(zipfile.ZipInfo(name, ZIP_TIMESTAMP), file)
    return content.getvalue()


def _names_in_canvas(student: StudentResult) -> Iterator[str]:
    """Yield Canvas's names for a student's files, the graded file first."""
    counted = [lesson.notebook for lesson in student.lessons.values() if lesson.notebook]
    for notebook in [*counted, *student.notebooks]:
        yield from (part for part in notebook.submission.path.parts if CANVAS_NAME.fullmatch(part))


def _can_hold_page(name: str) -> bool:
    return name.rpartition(".")[2].lower() in PAGE_SUFFIXES


def _in_file_format(name: str, page: str) -> bytes:
    """Return a page in the format of the file name's extension."""
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
