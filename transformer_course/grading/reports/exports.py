"""Points and feedback put into the tables that Canvas and Moodle export, and read again.

All other cells stay as they are, byte for byte.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup

from transformer_course.checking.formatting import join_words
from transformer_course.checking.message_panel import as_html
from transformer_course.grading.incoming.roster import PARTICIPANT, Person, Roster, is_canvas_row
from transformer_course.grading.reports.class_results import (
    ClassResults,
    LessonResult,
    StudentResult,
    max_points,
    plain_number,
)
from transformer_course.grading.reports.written_page import mark

CELL = re.compile(r'("(?:[^"]|"")*"|[^",\r\n][^,\r\n]*|)(,|\r\n|\r|\n|$)')
"""A cell as it is written, and what follows it."""
DEFAULT_COLUMN = "Transformer Course"
POINTS_POSSIBLE = "points possible"
"""The first cell of the row in which Canvas has the maximum of each column."""
MAX_LISTED = 20
"""Number of cells that change which are named."""


@dataclass(frozen=True)
class FilledTable:
    """A table with points in it, which is not written yet.

    Args:
        text: The table.
        found: The result of each student who has points in it.
        messages: Lines that say which column it is, how many students get points, who gets none, and which cells
            change.
    """

    text: str
    found: Sequence[StudentResult]
    messages: str


class RawTable:
    """A CSV of which cells can be replaced while all others stay as they are written.

    Args:
        path: The file, with commas between its cells and titles in its first row.

    Attributes:
        titles: The titles, as they are read.
        rows: The cells of the other rows, as they are written.

    Raises:
        ValueError: It is no such table.
        OSError: It cannot be read.
    """

    def __init__(self, path: Path) -> None:
        text = path.read_bytes().decode("utf-8", "surrogateescape")
        self._mark = "\ufeff" if text.startswith("\ufeff") else ""
        records: list[tuple[list[str], str]] = []
        cells, at = list[str](), len(self._mark)
        while at < len(text):
            found = CELL.match(text, at)
            if found is None:
                raise ValueError(f"{path}, row {len(records) + 1}: a quoted cell does not end")
            cells.append(found[1])
            if found[2] != ",":
                records.append((cells, found[2]))
                cells = []
            elif found.end() == len(text):
                records.append(([*cells, ""], ""))
            at = found.end()
        if not records:
            raise ValueError(f"{path} is empty; it needs a row of titles")
        self.titles = [read_cell(cell) for cell in records[0][0]]
        self.rows = [cells for cells, _ in records]
        self._ends = [end for _, end in records]

    def column(self, *titles: str) -> int | None:
        """Return the first column that has one of these titles, whatever the case."""
        wanted = [title.casefold() for title in titles]
        return next((i for title in wanted for i, own in enumerate(self.titles) if own.casefold() == title), None)

    def add_column(self, title: str) -> int:
        """Add a column after the last, empty in every row, and return its place."""
        for row in self.rows:
            if any(row):
                row += [""] * (len(self.titles) + 1 - len(row))
        self.titles.append(title)
        self.rows[0][-1] = write_cell(title)
        return len(self.titles) - 1

    def read(self, row: Sequence[str], column: int | None) -> str:
        """Return what a cell holds; empty where there is none."""
        return read_cell(row[column]) if column is not None and column < len(row) else ""

    def __str__(self) -> str:
        return self._mark + "".join(",".join(row) + end for row, end in zip(self.rows, self._ends, strict=True))


def read_cell(cell: str) -> str:
    """Return what a cell holds that is written like this."""
    quoted = len(cell) > 1 and cell[0] == cell[-1] == '"'
    return (cell[1:-1].replace('""', '"') if quoted else cell).strip()


def write_cell(text: str) -> str:
    """Return how a cell is written that holds this."""
    return '"' + text.replace('"', '""') + '"' if re.search(r'[",\r\n]|^\s|\s$', text) else text


def merge_into_canvas(
    export: Path, results: ClassResults, *, lesson: str = "", column: str = DEFAULT_COLUMN
) -> FilledTable:
    """Put the points into a gradebook that Canvas has exported.

    Args:
        export: The gradebook.
        results: The results of the class.
        lesson: The lesson whose points they are; empty for the sum of all.
        column: The title of the column, with or without the number that Canvas puts after it. If there is none, one is
            added, and Canvas makes an assignment of it.

    Raises:
        ValueError: It is no gradebook of Canvas, or the lesson was not graded.
        OSError: The file cannot be read.
    """
    table = RawTable(export)
    student, number = table.column("Student", "Student Name"), table.column("ID")
    if student is None or number is None:
        raise ValueError(f"{export} is no gradebook of Canvas: it has no columns Student and ID")
    login, sis = table.column("SIS Login ID"), table.column("SIS User ID", "Integration ID")
    numbered = re.compile(re.escape(column.casefold()) + r"( \(\d+\))?")
    place = next((i for i, title in enumerate(table.titles) if numbered.fullmatch(title.casefold())), None)
    where = f"The column is “{column if place is None else table.titles[place]}”"
    where += f", a new one beside {join_words(_assignments(table))}." if place is None else "."
    place = table.add_column(column) if place is None else place
    rows = {}
    possible = _possible(results, lesson)
    for row in table.rows[1:]:
        if table.read(row, student).casefold() == POINTS_POSSIBLE:
            row[place] = _plain(possible)
        elif any(row) and not is_canvas_row(table.read(row, student), table.read(row, number)):
            name = table.read(row, login)
            person = Person(table.read(row, number), table.read(row, student), name if "@" in name else "", name)
            rows[person] = (row, table.read(row, sis))
    found, messages = _matched(results, {person: sis_id for person, (_, sis_id) in rows.items()}, lesson)
    cells = [(result, rows[person][0], place) for person, result in found.items()]
    lines = [where, messages, *_fill_in(table, cells, results, lesson)]
    beyond = sum(_points(result, results, lesson) > possible for result in found.values())
    if beyond:
        lines.append(f"{beyond} of them have more than the {_plain(possible)} points possible: Canvas allows that.")
    return FilledTable(str(table), list(found.values()), "\n".join(lines))


def _assignments(table: RawTable) -> list[str]:
    """List the columns of assignments in a gradebook of Canvas: those with a number after them, or else all."""
    numbered = [title for title in table.titles if re.search(r" \(\d+\)$", title)]
    return [f"“{title}”" for title in numbered or table.titles]


def merge_into_moodle(export: Path, results: ClassResults, *, lesson: str = "") -> FilledTable:
    """Put points and feedback into a grading worksheet that Moodle has exported.

    Args:
        export: The worksheet.
        results: The results of the class.
        lesson: The lesson whose points they are; empty for the sum of all.

    Raises:
        ValueError: It is no worksheet of Moodle, or the lesson was not graded.
        OSError: The file cannot be read.
    """
    table = RawTable(export)
    number, name, email = (
        table.column("Identifier", "ID number"),
        table.column("Full name"),
        table.column("Email address"),
    )
    first, last = table.column("First name"), table.column("Last name", "Surname")
    if number is None and email is None:
        raise ValueError(f"{export} is no table of grades of Moodle: it has no column Identifier or Email address")
    grade = table.column("Grade")
    grade = table.add_column("Grade") if grade is None else grade
    feedback = table.column("Feedback comments", "Feedback")
    feedback = table.add_column("Feedback comments") if feedback is None else feedback
    rows = {}
    for row in table.rows[1:]:
        if any(row):
            full_name = table.read(row, name) or f"{table.read(row, first)} {table.read(row, last)}".strip()
            own_id = table.read(row, number).removeprefix(PARTICIPANT)
            rows[Person(own_id or table.read(row, email), full_name, table.read(row, email))] = row
    found, messages = _matched(results, dict.fromkeys(rows, ""), lesson)
    cells = [(result, rows[person], grade) for person, result in found.items()]
    lines = [messages, *_fill_in(table, cells, results, lesson)]
    for person, result in found.items():
        rows[person][feedback] = write_cell(short_feedback(result, lesson))
    return FilledTable(str(table), list(found.values()), "\n".join(lines))


def _fill_in(
    table: RawTable, cells: Sequence[tuple[StudentResult, list[str], int]], results: ClassResults, lesson: str
) -> list[str]:
    """Put each student's points into a cell, and return lines on the cells that had others."""
    changes = []
    for student, row, place in cells:
        before, now = table.read(row, place), _plain(_points(student, results, lesson))
        row[place] = now
        if before and _number(before) != float(now):
            changes.append(f"  {student.name}: {before} → {now}")
    more = [f"  … and {len(changes) - MAX_LISTED} more"] if len(changes) > MAX_LISTED else []
    return [f"{len(changes)} of them had other points before.", *changes[:MAX_LISTED], *more] if changes else []


def _number(text: str) -> float | None:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return None


def short_feedback(student: StudentResult, lesson: str = "") -> str:
    """Return what is to be said about each exercise, as HTML in one line."""
    lines: list[str] = []
    for lesson_result in _lessons(student, lesson):
        late = f" {lesson_result.lateness.message}." if lesson_result.lateness.message else ""
        points, of = _plain(lesson_result.points), max_points([lesson_result.lesson])
        lines.append(Markup("<b>{}</b>: {} of {} points.{}").format(lesson_result.lesson, points, of, late))
        for one in lesson_result.exercises:
            panel = one.graded.verdict.panel if one.graded else None
            title, message = (panel.title, panel.message) if panel else (f"{one.exercise.name}: not handed in", "")
            first_line = "" if one.graded and one.graded.verdict.passed else message.partition("\n")[0]
            bonus = "bonus: " if one.exercise.stretch else ""
            messages = f"{title} ({bonus}{_plain(one.points)} of {one.exercise.points}). {first_line}"
            comment = _in_one_line(one.override.comment if one.override else "")
            lines.append(Markup("{} {}").format(as_html(messages.strip()), comment).strip())
    for answer in student.written:
        if lesson in ("", answer.lesson):
            question, comment = _in_one_line(answer.question), _in_one_line(answer.comment)
            lines.append(Markup("{} ({}). {}").format(question, mark(answer), comment).strip())
    if student.comment:
        lines.append(_in_one_line(student.comment))
    return str(Markup("<br>").join(lines))


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _matched(results: ClassResults, rows: dict[Person, str], lesson: str) -> tuple[dict[Person, StudentResult], str]:
    """Find each student's row: whoever handed in nothing that could be graded keeps what is in it.

    Args:
        results: The results of the class.
        rows: The person in each row, with one more name.
        lesson: As above.

    Returns:
        The result for each row that gets points, and the lines that say so.
    """
    if lesson and lesson not in results.lessons:
        raise ValueError(f"nobody handed in {lesson!r}; there are {', '.join(results.lessons)}")
    by_system = Roster(list(rows))
    by_university = {sis_id: person for person, sis_id in rows.items() if sis_id}
    found: dict[Person, StudentResult] = {}
    lines = []
    for student in results.students:
        own = student.person
        lms_ids = dict.fromkeys(one.submission.lms_id for one in student.notebooks if one.submission.lms_id)
        person = by_university.get(own.id) or by_system.find(
            *lms_ids, *filter(None, (own.email, own.login, own.id, own.name))
        )
        is_graded = any(
            lesson_result.notebook and lesson_result.notebook.exercises for lesson_result in _lessons(student, lesson)
        )
        if not is_graded and not _has_points(student, lesson):
            lines.append(f"  {student.name}: {student.status}; the cell stays as it was.")
        elif person is None:
            lines.append(f"  {student.name}: no row is this student's.")
        elif person in found:
            lines.append(f"  {student.name}: the row of {found[person].name} is this student's, too.")
        else:
            found[person] = student
    return found, "\n".join([f"{len(found)} of {len(rows)} rows get points.", *lines])


def _lessons(student: StudentResult, lesson: str) -> list[LessonResult]:
    return [lesson_result for lesson_result in student.lessons.values() if lesson in ("", lesson_result.lesson)]


def _has_points(student: StudentResult, lesson: str) -> bool:
    return any(lesson_result.points or lesson_result.bonus for lesson_result in _lessons(student, lesson))


def _points(student: StudentResult, results: ClassResults, lesson: str) -> float:
    """Return the points less what being late costs, and those of written answers."""
    in_words = sum(one.points or 0 for one in student.written if lesson in ("", one.lesson))
    counted = [(one.points_after, one.bonus if results.rules.bonus else 0) for one in _lessons(student, lesson)]
    return round(in_words + sum(map(sum, counted)), 2)


def _possible(results: ClassResults, lesson: str) -> float:
    """Return the most that there is without a bonus: all core exercises, and all questions that have a maximum."""
    questions = {
        (one.lesson, one.question): one.of or 0
        for student in results.students
        for one in student.written
        if lesson in ("", one.lesson)
    }
    return max_points([lesson] if lesson else results.lessons) + sum(questions.values())


def _plain(number: float) -> str:
    return f"{plain_number(round(number, 2)):g}"
