"""Find the columns of a Moodle grading worksheet, whose titles are in the language of the person who downloads it.

Columns are recognized by their titles in common languages, or else by their content and position. Moodle puts the
maximum grade, which is the same in each row, right after the grade, and the comments at the end.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from transformer_course.grading.incoming.column_titles import PARTICIPANT, find_columns
from transformer_course.grading.incoming.tables import Table

NUMBER = re.compile(r"\d+([.,]\d+)?")
GRADE = re.compile(r"-|\d+([.,]\d+)?")
"""Matches a nonempty cell in the column for grades."""
NAME = re.compile(r"[^\d@]*[^\W\d_][^\d@]*")
TIME = re.compile(r"-|.*\d{1,2}[:.]\d\d.*")
"""Matches a nonempty cell in a column for times."""
ENGLISH_GRADE, ENGLISH_FEEDBACK = "grade", "Feedback comments"


@dataclass(frozen=True)
class WorksheetColumns:
    """Column indices in a worksheet.

    Args:
        grade: The column for the grade.
        maximum: The column for the maximum grade, or None.
        feedback: The column for comments, or None.
        person: The columns that identify the student, keyed by a key of ``column_titles.TITLES``; None if absent.
    """

    grade: int
    maximum: int | None
    feedback: int | None
    person: Mapping[str, int | None]


def worksheet_columns(table: Table, chosen: Mapping[str, str] | None = None) -> WorksheetColumns:
    """Find the columns of a worksheet.

    Args:
        table: The worksheet. If the worksheet is in English and has no column for comments, this column is added.
        chosen: Titles or numbers of columns that the instructor chose, with the keys of ``column_titles.TITLES``.

    Raises:
        ValueError: The table has no column for the grade, or no column that identifies the student.
    """

    def find(key: str) -> int | None:
        return next(iter(find_columns(table, key, chosen)), None)

    person = {key: find(key) for key in ("id", "email", "name", "first name", "last name")}
    if "id" not in (chosen or {}):
        person["id"] = _participants(table, person["id"])
    if person["name"] is None and person["first name"] is None and person["id"] == 0 and _may_be_names(table, 1):
        person["name"] = 1
    maximum, grade = find("maximum"), find("grade")
    maximum = _maximum(table) if maximum is None else maximum
    if grade is None and maximum and _may_be_grades(table, maximum - 1):
        grade = maximum - 1
    if grade is None or not {person["id"], person["email"], person["name"]} - {None}:
        missing = "a grade" if grade is None else "an identifier, an email address or a name"
        raise ValueError(
            f"{table.path} has no column for {missing}; its columns are {table.listed_titles}. If it is a grading "
            "worksheet from Moodle, choose the columns with --columns id=TITLE grade=TITLE feedback=TITLE"
        )
    feedback = find("feedback")
    return WorksheetColumns(grade, maximum, _feedback(table, grade) if feedback is None else feedback, person)


def _participants(table: Table, titled: int | None) -> int | None:
    """Return the column with names such as ``Participant 98765``, or else the column that has a known title."""
    found = [column for column in range(len(table.titles)) if table.has_only(column, PARTICIPANT)]
    return found[0] if found else titled


def _maximum(table: Table) -> int | None:
    """Return the last column with the same number in each row."""
    for column in reversed(range(1, len(table.titles))):
        values = {table.read(row, column) for row in table.rows if any(row.cells)}
        if len(values) == 1 and table.has_only(column, NUMBER) and _may_be_grades(table, column - 1):
            return column
    return None


def _may_be_names(table: Table, column: int) -> bool:
    return table.has_only(column, NAME)


def _may_be_grades(table: Table, column: int) -> bool:
    return all(GRADE.fullmatch(cell) for row in table.rows if (cell := table.read(row, column)))


def _feedback(table: Table, grade: int) -> int | None:
    """Return a new column for an English worksheet, or else the last column unless it contains times."""
    last = len(table.titles) - 1
    if table.titles[grade].casefold() == ENGLISH_GRADE:
        return table.add_column(ENGLISH_FEEDBACK)
    return last if last > grade + 1 and not table.has_only(last, TIME) else None
