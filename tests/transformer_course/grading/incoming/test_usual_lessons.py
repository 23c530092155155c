"""Tests for guessing a file's lesson from the other submissions in the same folder or zip."""

from pathlib import Path

import pytest

from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.incoming.usual_lessons import with_usual_lessons

WEEK_1 = {
    "week 1.zip/ada/01_lookup.ipynb": "01_lookup",
    "week 1.zip/ben/01_lookup.ipynb": "01_lookup",
    "week 1.zip/cleo/01_lookup.ipynb": "01_lookup",
}
WEEK_2 = {"week 2.zip/ada/02_scaling.ipynb": "02_scaling", "week 2.zip/cleo/answers.ipynb": "02_scaling"}


def storage_lesson(files: dict[str, str], path: str) -> str:
    """Return the lesson that is assigned to a file. Each file is in its student's folder."""
    students: dict[str, list[Submission]] = {}
    for name, lesson in {**files, path: ""}.items():
        student = Path(name).parent.name
        students.setdefault(student, []).append(Submission(student, Path(name), lesson, problem="" if lesson else "x"))
    return next(
        submission.storage_lesson
        for own in with_usual_lessons(students).values()
        for submission in own
        if not submission.lesson
    )


@pytest.mark.parametrize(
    ("files", "path", "lesson"),
    [
        (WEEK_1 | WEEK_2, "week 2.zip/ben/homework.pdf", "02_scaling"),  # although lesson 01 is more common
        (WEEK_1 | WEEK_2, "week 1.zip/dan/homework.pdf", "01_lookup"),
        (WEEK_1 | WEEK_2, "ben/homework.pdf", ""),  # ada and cleo have submitted both lessons
        (WEEK_1, "week 1.zip/ben/02_scaling.pdf", "02_scaling"),
        (WEEK_1, "week of 02_scaling/ben/homework.pdf", "02_scaling"),
        (
            {f"00_bottleneck/{name}": lesson for name, lesson in WEEK_1.items()},
            "00_bottleneck/week 1.zip/b/x.pdf",
            "01_lookup",
        ),
        ({"a/ada/1.ipynb": "01_lookup", "a/cleo/2.ipynb": "02_scaling"}, "a/ben/homework.pdf", ""),
        ({"a/ben/1.ipynb": "01_lookup"}, "a/ben/homework.pdf", ""),
        ({}, "a/ben/homework.pdf", ""),
    ],
)
def test_finds_lesson_by_file_name_or_folder(files: dict[str, str], path: str, lesson: str):
    assert storage_lesson(files, path) == lesson
