"""Answers in words: collected into a table to be marked by hand, and read back with points and comments.

A written answer is a cell of text that an instructor has added to a lesson: one of its tags, or its id, begins with
``written-``, or nbgrader knows it as an answer that is graded by hand.
"""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from transformer_course.grading.incoming.printable_text import without_control_codes
from transformer_course.grading.incoming.tables import as_csv, read_number, read_table
from transformer_lab.atomic_write import atomic_write_text

ANSWERS_FILE = "written_answers.csv"
"""In the folder of results; the instructor fills in the columns points and comment."""
RUBRIC_FILE = "rubric.csv"
"""In the folder of results, if the instructor puts it there: a row with question, of and rubric for each question."""
COLUMN_TITLES = ("lesson", "question", "student", "answer", "points", "of", "comment", "note")
CELL_ID_PREFIX = "written-"
UNSAFE_CHARACTERS = re.compile(r"[^\w .-]+")
"""What the name of a question cannot have; students can change it, and it stands in tables and headings."""
MAX_ANSWER_LENGTH = 20_000
CHANGED_NOTE = "The answer has changed since it was marked."
Key = tuple[str, str, str]
"""Lesson, question and student."""


@dataclass(frozen=True)
class Criteria:
    """A row of the rubric.

    Args:
        of: The most points that there are; None if that is not said.
        text: What to look for.
    """

    of: float | None = None
    text: str = ""


@dataclass(frozen=True)
class WrittenAnswer:
    """An answer in words, with its mark.

    Args:
        lesson: The lesson.
        question: The name of the question.
        student: The student's name in the tables.
        answer: What the student has written.
        points: The points; None if it has not been marked.
        of: The most that there are for it; None if that is not known.
        comment: What the student is told.
        note: What the instructor should know.
        rubric: What the rubric says about the question.
    """

    lesson: str
    question: str
    student: str
    answer: str
    points: float | None = None
    of: float | None = None
    comment: str = ""
    note: str = ""
    rubric: str = ""

    @property
    def key(self) -> Key:
        """What tells it from all others."""
        return self.lesson, self.question, self.student


def written_answer_of(cell: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the question and the answer in a cell of a notebook; None if it is not one for a written answer."""
    if cell["cell_type"] != "markdown":
        return None
    metadata = cell.get("metadata", {})
    source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
    tags, marks = metadata.get("tags"), metadata.get("nbgrader")
    names = [cell.get("id"), metadata.get("id"), *(tags if isinstance(tags, list) else [])]
    named = [
        name.removeprefix(CELL_ID_PREFIX) for name in names if isinstance(name, str) and name.startswith(CELL_ID_PREFIX)
    ]
    if not named and isinstance(marks, Mapping) and marks.get("grade") is True and marks.get("solution") is True:
        named = [str(marks.get("grade_id", cell.get("id")))]
    if not named:
        return None
    return UNSAFE_CHARACTERS.sub("_", named[0][:100]).strip("_- ") or "question", without_control_codes(
        source[:MAX_ANSWER_LENGTH]
    )


def read_marks(out: Path) -> dict[Key, WrittenAnswer]:
    """Read the answers in the sheet of a folder of results, with their marks; a maximum in the rubric holds for all.

    Raises:
        ValueError: Points are no number, or more than there are.
        OSError: The sheet or the rubric cannot be read.
    """
    rows, rubric = read_table(out / ANSWERS_FILE) if (out / ANSWERS_FILE).exists() else [], read_rubric(out)
    answers = [_answer(row, rubric, f"{out / ANSWERS_FILE}, line {row['line']}") for row in rows]
    return {one.key: one for one in answers}


def _answer(row: Mapping[str, str], rubric: Mapping[str, Criteria], where: str) -> WrittenAnswer:
    of = rubric.get(row.get("question", ""), Criteria()).of
    of = _number(row.get("of", ""), "of", math.inf, where) if of is None else of
    points = _number(row.get("points", ""), "points", math.inf if of is None else of, where)
    texts = {title: row.get(title, "") for title in ("lesson", "question", "student", "answer", "comment", "note")}
    return WrittenAnswer(**texts, points=points, of=of)


def _number(text: str, title: str, most: float, where: str) -> float | None:
    number = read_number(text)
    if text and (number is None or not 0 <= number <= most):
        bound = "at least 0" if most == math.inf else f"between 0 and {most:g}"
        raise ValueError(f"{where}: {title} must be a number {bound}; got {title}={text!r}")
    return number


def read_rubric(out: Path) -> dict[str, Criteria]:
    """Read what to look for in the answers to each question; nothing if the folder has no rubric.

    Raises:
        ValueError: A maximum is no number.
        OSError: The file cannot be read.
    """
    path = out / RUBRIC_FILE
    rows = read_table(path) if path.exists() else []
    return {
        row.get("question", "").removeprefix(CELL_ID_PREFIX): Criteria(
            _number(row.get("of", ""), "of", math.inf, f"{path}, line {row['line']}"), row.get("rubric", "")
        )
        for row in rows
    }


def marked(plain: WrittenAnswer, marks: Mapping[Key, WrittenAnswer], rubric: Mapping[str, Criteria]) -> WrittenAnswer:
    """Return an answer with its mark, if it has one, and with what the rubric says."""
    criteria = rubric.get(plain.question, Criteria())
    before = marks.get(plain.key)
    if before is None:
        return replace(plain, of=criteria.of, rubric=criteria.text)
    is_same = " ".join(before.answer.split()) == " ".join(plain.answer.split())
    note = "" if is_same or before.points is None else CHANGED_NOTE
    note = note or (before.note if is_same else "")
    of = before.of if criteria.of is None else criteria.of
    return replace(before, answer=plain.answer, of=of, note=note, rubric=criteria.text)


def write_sheet(out: Path, answers: Iterable[WrittenAnswer], marks: Mapping[Key, WrittenAnswer]) -> None:
    """Write the sheet, or nothing if there are no answers.

    Args:
        out: The folder of results.
        answers: The answers of everybody, as ``marked`` returns them.
        marks: What was in the sheet: marks of students that are no longer there are never thrown away.

    Raises:
        OSError: The sheet cannot be written.
    """
    rows = {**marks, **{one.key: one for one in answers}}
    table = [{title: _cell(getattr(rows[key], title)) for title in COLUMN_TITLES} for key in sorted(rows)]
    if table:
        atomic_write_text(out / ANSWERS_FILE, as_csv(table))


def _cell(message: str | float | None) -> str | float:
    if message is None:
        return ""
    return int(message) if isinstance(message, float) and message == int(message) else message
