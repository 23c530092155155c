"""Collect written answers into a table for manual marking, and read the points and comments from that table.

A written answer is a Markdown cell that an instructor has added to a lesson, with a tag or an id that begins with
``written-``, or with nbgrader's metadata for manual grading.
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
"""The table in the results folder; the instructor fills in the columns points and comment."""
RUBRIC_FILE = "rubric.csv"
"""The instructor's optional rubric in the results folder, with the columns question, of and rubric."""
COLUMN_TITLES = ("lesson", "question", "student", "answer", "points", "of", "comment", "note")
CELL_ID_PREFIX = "written-"
UNSAFE_CHARACTERS = re.compile(r"[^\w .-]+")
"""Characters to remove from the name of a question, which students can change and which appears in tables."""
MAX_ANSWER_LENGTH = 20_000
CHANGED_NOTE = "The answer has changed since it was marked."
Key = tuple[str, str, str]
"""The lesson, the question and the student, which together identify a written answer."""


@dataclass(frozen=True)
class Criteria:
    """A row of the rubric.

    Args:
        of: The maximum points, or None if the rubric sets no maximum.
        text: The criteria for a good answer.
    """

    of: float | None = None
    text: str = ""


@dataclass(frozen=True)
class WrittenAnswer:
    """A written answer with its mark.

    Args:
        lesson: The lesson.
        question: The name of the question.
        student: The student's name in the tables.
        answer: The student's text.
        points: The points, or None if the answer has not been marked.
        of: The maximum points, or None if unknown.
        comment: A comment for the student.
        note: A note for the instructor.
        rubric: The rubric's text for the question.
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
        """The unique key of the answer."""
        return self.lesson, self.question, self.student


def written_answer_of(cell: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the question and the answer in a cell, or None if the cell is not a written answer."""
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
    """Read the answers and their marks from the table in a results folder. A maximum in the rubric takes precedence.

    Raises:
        ValueError: Points are not a number or exceed the maximum.
        OSError: The table or the rubric cannot be read.
    """
    rows, rubric = read_table(out / ANSWERS_FILE) if (out / ANSWERS_FILE).exists() else [], read_rubric(out)
    answers = [_answer(row, rubric, f"{out / ANSWERS_FILE}, line {row['line']}") for row in rows]
    return {answer.key: answer for answer in answers}


def _answer(row: Mapping[str, str], rubric: Mapping[str, Criteria], where: str) -> WrittenAnswer:
    of = rubric.get(row.get("question", ""), Criteria()).of
    of = _number(row.get("of", ""), "of", math.inf, where) if of is None else of
    points = _number(row.get("points", ""), "points", math.inf if of is None else of, where)
    texts = {title: row.get(title, "") for title in ("lesson", "question", "student", "answer", "comment", "note")}
    return WrittenAnswer(**texts, points=points, of=of)


def _number(text: str, title: str, maximum: float, where: str) -> float | None:
    number = read_number(text)
    if text and (number is None or not 0 <= number <= maximum):
        bound = "at least 0" if maximum == math.inf else f"between 0 and {maximum:g}"
        raise ValueError(f"{where}: {title} must be a number {bound}; got {title}={text!r}")
    return number


def read_rubric(out: Path) -> dict[str, Criteria]:
    """Return the rubric, keyed by question, or an empty dict if the folder has no rubric.

    Raises:
        ValueError: A maximum is not a number.
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
    """Return an answer with the rubric's text and with its mark, if there is one."""
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
    """Write the table of written answers, unless there are no answers.

    Args:
        out: The results folder.
        answers: The answers of all students, from ``marked``.
        marks: The previous contents of the table; marks of removed students are never deleted.

    Raises:
        OSError: The table cannot be written.
    """
    rows = {**marks, **{answer.key: answer for answer in answers}}
    table = [{title: _cell(getattr(rows[key], title)) for title in COLUMN_TITLES} for key in sorted(rows)]
    if table:
        atomic_write_text(out / ANSWERS_FILE, as_csv(table))


def _cell(value: str | float | None) -> str | float:
    if value is None:
        return ""
    return int(value) if isinstance(value, float) and value == int(value) else value
