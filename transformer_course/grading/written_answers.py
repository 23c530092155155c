"""Answers in words: collected into a table to be marked by hand, and read back with points and comments.

A written answer is a cell of text that an instructor has added to a lesson: its id begins with ``written-``, or
nbgrader knows it as an answer that is graded by hand.
"""

import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from transformer_course.grading.tables import escape_formula, read_table
from transformer_lab.atomic_write import atomic_write_text

SHEET = "written_answers.csv"
"""In the folder of results; the instructor fills in the columns points and comment."""
RUBRIC = "rubric.csv"
"""In the folder of results, if the instructor puts it there: a row with question, of and rubric for each question."""
TEXT_SHEET = "written_answers.md"
TITLES = ("lesson", "question", "student", "answer", "points", "of", "comment", "note")
PREFIX = "written-"
MAX_LENGTH = 20_000
"""Number of characters of an answer that are kept."""
CHANGED_NOTE = "The answer has changed since it was marked."


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
    """

    lesson: str
    question: str
    student: str
    answer: str
    points: float | None = None
    of: float | None = None
    comment: str = ""
    note: str = ""

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from all others."""
        return self.lesson, self.question, self.student


def written_answer_of(cell: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the question and the answer in a cell of a notebook; None if it is not one for a written answer."""
    if cell["cell_type"] != "markdown":
        return None
    metadata = cell.get("metadata", {})
    source = cell["source"] if isinstance(cell["source"], str) else "".join(cell["source"])
    name, marks = cell.get("id") or metadata.get("id"), metadata.get("nbgrader")
    if isinstance(name, str) and name.startswith(PREFIX):
        return name.removeprefix(PREFIX)[:100], source[:MAX_LENGTH]
    if isinstance(marks, Mapping) and marks.get("grade") is True and marks.get("solution") is True:
        return str(marks.get("grade_id", name))[:100], source[:MAX_LENGTH]
    return None


def read_marks(out: Path) -> list[WrittenAnswer]:
    """Read the answers in the sheet of a folder of results, with their marks.

    Raises:
        ValueError: Points are no number, or more than there are.
        OSError: The sheet cannot be read.
    """
    if not (out / SHEET).exists():
        return []
    rows = read_table(out / SHEET)
    return [_answer(row, f"{out / SHEET}, line {row['line']}") for row in rows]


def _answer(row: Mapping[str, str], where: str) -> WrittenAnswer:
    of = _number(row.get("of", ""), "of", math.inf, where)
    points = _number(row.get("points", ""), "points", math.inf if of is None else of, where)
    texts = {title: row.get(title, "") for title in ("lesson", "question", "student", "answer", "comment", "note")}
    return WrittenAnswer(**texts, points=points, of=of)


def _number(text: str, title: str, most: float, where: str) -> float | None:
    try:
        number = float(text.replace(",", ".")) if text else None
    except ValueError:
        number = math.nan
    if number is not None and not (0 <= number <= most and number < math.inf):
        bound = "at least 0" if most == math.inf else f"between 0 and {most:g}"
        raise ValueError(f"{where}: {title} must be a number {bound}; got {title}={text!r}")
    return number


def write_sheet(out: Path, answers: Iterable[WrittenAnswer]) -> None:
    """Write the sheet, with the marks that it has already, and the same to be read as text; nothing if there are none.

    Args:
        out: The folder of results.
        answers: The answers of everybody, without marks.

    Raises:
        ValueError: The sheet or the rubric that is there cannot be read.
        OSError: A file cannot be read or written.
    """
    marked = {one.key: one for one in read_marks(out)}
    rubric = {row.get("question", ""): row for row in read_table(out / RUBRIC)} if (out / RUBRIC).exists() else {}
    rows = []
    for plain in sorted(answers, key=lambda one: one.key):
        one = replace(plain, answer=escape_formula(plain.answer.strip()), student=escape_formula(plain.student))
        if before := marked.pop(one.key, None):
            is_same = " ".join(before.answer.split()) == " ".join(one.answer.split())
            note = "" if is_same or before.points is None else CHANGED_NOTE
            one = replace(before, answer=one.answer, note=note or (before.note if is_same else ""))
        if one.of is None and one.question in rubric:
            of = rubric[one.question].get("of", "")
            one = replace(one, of=_number(of, "of", math.inf, f"{out / RUBRIC}, line {rubric[one.question]['line']}"))
        rows.append(one)
    rows += marked.values()  # of students that are no longer there: marks are never thrown away
    if not rows:
        return
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(TITLES)
    for one in rows:
        cells = (getattr(one, title) for title in TITLES)
        writer.writerow("" if cell is None else f"{cell:g}" if isinstance(cell, float) else cell for cell in cells)
    atomic_write_text(out / SHEET, text.getvalue())
    atomic_write_text(out / TEXT_SHEET, _as_text(rows, {name: row.get("rubric", "") for name, row in rubric.items()}))


def _as_text(rows: Sequence[WrittenAnswer], rubric: Mapping[str, str]) -> str:
    parts = [f"# Written answers\n\nPoints and comments belong into {SHEET}.\n"]
    question = None
    for one in rows:
        if question != (one.lesson, one.question):
            question = one.lesson, one.question
            parts.append(f"\n## {one.lesson}: {one.question}\n")
            if rubric.get(one.question):
                parts.append(f"\nRubric: {rubric[one.question]}\n")
        mark = "not marked" if one.points is None else f"{one.points:g}" + ("" if one.of is None else f" of {one.of:g}")
        quoted = re.sub(r"^", "> ", one.answer, flags=re.MULTILINE)
        parts.append(f"\n### {one.student} ({mark})\n\n{quoted}\n")
    return "".join(parts)
