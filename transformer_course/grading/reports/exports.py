"""Fill in points and feedback in tables exported from Canvas and Moodle.

All other cells stay unchanged, byte for byte.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from markupsafe import Markup

from transformer_course.checking.formatting import join_words
from transformer_course.checking.message_panel import as_html
from transformer_course.grading.incoming.column_titles import participant_number
from transformer_course.grading.incoming.people import Roster
from transformer_course.grading.incoming.roster import Person, is_canvas_row
from transformer_course.grading.incoming.tables import Row, Table, read_cell, read_number
from transformer_course.grading.reports.assignment_doubts import doubts_by_grades, doubts_by_name, doubts_by_numbers
from transformer_course.grading.reports.moodle_worksheet import worksheet_columns
from transformer_course.grading.reports.student_results import (
    NOTHING_SUBMITTED,
    ClassResults,
    LessonResult,
    StudentResult,
    max_points,
    plain_number,
)
from transformer_course.grading.reports.written_page import mark

DEFAULT_COLUMN = "Transformer Course"
POINTS_POSSIBLE = "points possible"
"""The first cell of the row in which Canvas stores the maximum of each column."""
NO_FEEDBACK_COLUMN = (
    "The worksheet has no column for feedback comments: turn on “Feedback comments” in the settings of the assignment, "
    "and download the worksheet again; or choose a column with --columns feedback=TITLE."
)
MAX_LISTED = 20
"""Maximum number of changed cells to list."""


@dataclass(frozen=True)
class FilledTable:
    """A table with points that has not been written to disk.

    Args:
        content: The table, with the separator, encoding and decimal sign of the exported file.
        found: The result for each row that gets points, keyed by the person in the row.
        not_graded: The results of students whose submissions could not be graded; their pages give the reason.
        messages: Lines about the column, about students with and without points, and about the changed cells.
        doubts: Reasons why the table may be for a different lesson, as clauses.
    """

    content: bytes
    found: Mapping[Person, StudentResult]
    not_graded: Mapping[Person, StudentResult]
    messages: str
    doubts: Sequence[str] = ()


def merge_into_canvas(
    export: Path, results: ClassResults, *, lesson: str = "", column: str = DEFAULT_COLUMN
) -> FilledTable:
    """Fill in the points in a gradebook exported from Canvas.

    Args:
        export: The gradebook.
        results: The results of the class.
        lesson: The lesson to export; empty for the sum of all lessons.
        column: The title of the column, with or without the number that Canvas appends. A missing column is added;
            Canvas then creates an assignment for it.

    Raises:
        ValueError: The file is not a gradebook from Canvas, or the lesson was not graded.
        OSError: The file cannot be read.
    """
    table = Table(export)
    student, number = table.column("Student", "Student Name"), table.column("ID")
    if student is None or number is None:
        raise ValueError(
            f"{export} is not a gradebook from Canvas: the columns Student and ID are missing; its columns are "
            f"{table.listed_titles}. In Canvas, choose Grades > Export > Export Entire Gradebook"
        )
    login, sis = table.column("SIS Login ID"), table.column("SIS User ID", "Integration ID")
    doubts = doubts_by_name(lesson, results, column) if lesson else []
    numbered = re.compile(re.escape(column.casefold()) + r"( \(\d+\))?")
    place = next((i for i, title in enumerate(table.titles) if numbered.fullmatch(title.casefold())), None)
    if place is None:
        summary = f"The points are in the new column “{column}”, next to {join_words(_assignments(table))}."
    else:
        summary = f"The points are in the column “{table.titles[place]}”."
    place = table.add_column(column) if place is None else place
    rows = {}
    possible = _possible(results, lesson)
    for row in table.rows:
        if table.read(row, student).casefold() == POINTS_POSSIBLE:
            before = table.read(row, place)
            if before and read_number(before) != possible:
                summary += f"\nIts Points Possible change from {before} to {_plain(possible)}."
            table.write_number(row, place, possible)
        elif any(row.cells) and not is_canvas_row(table.read(row, student), table.read(row, number)):
            name = table.read(row, login)
            person = Person(table.read(row, number), table.read(row, student), name if "@" in name else "", name)
            rows[person] = (row, table.read(row, sis))
    found, not_graded, messages = _matched(results, {person: sis_id for person, (_, sis_id) in rows.items()}, lesson)
    cells = [(result, rows[person][0], place) for person, result in found.items()]
    doubts += _doubts_by_grades(table, cells, results, lesson)
    lines = [summary, messages, *_fill_in(table, cells, results, lesson)]
    n_above = sum(_points(result, results, lesson) > possible for result in found.values())
    if n_above:
        lines.append(f"Students above the {_plain(possible)} points possible: {n_above}. Canvas allows this.")
    return FilledTable(bytes(table), found, not_graded, "\n".join(lines), doubts)


def _assignments(table: Table) -> list[str]:
    """Return the titles of the assignments in a Canvas gradebook, which end with a number, or else all titles."""
    numbered = [title for title in table.titles if re.search(r" \(\d+\)$", title)]
    return [f"“{title}”" for title in numbered or table.titles]


def merge_into_moodle(
    export: Path, results: ClassResults, *, lesson: str = "", columns: Mapping[str, str] | None = None
) -> FilledTable:
    """Fill in points and feedback in a grading worksheet exported from Moodle, in any language.

    Args:
        export: The worksheet.
        results: The results of the class.
        lesson: The lesson to export; empty for the sum of all lessons.
        columns: Titles of columns that the instructor chose, with the keys of ``column_titles.TITLES``.

    Raises:
        ValueError: The table is not a worksheet from Moodle, or the lesson was not graded.
        OSError: The file cannot be read.
    """
    table = Table(export)
    places = worksheet_columns(table, columns)
    rows = {_person_in(table, row, places.person): row for row in table.rows if any(map(read_cell, row.cells))}
    found, not_graded, messages = _matched(results, dict.fromkeys(rows, ""), lesson)
    cells = [(result, rows[person], places.grade) for person, result in found.items()]
    doubts = _doubts_by_grades(table, cells, results, lesson)
    if lesson:
        numbers = {participant_number(table.read(row, places.person["id"])) for row in table.rows} - {""}
        doubts += doubts_by_numbers(lesson, results, numbers)
        doubts += doubts_by_name(lesson, results, export.stem)
    lines = [messages, *_fill_in(table, cells, results, lesson)]
    lines += _maximum_warning(table, places.maximum, cells, results, lesson)
    if places.feedback is None:
        lines.append(NO_FEEDBACK_COLUMN)
    else:
        for person, result in found.items():
            table.write(rows[person], places.feedback, short_feedback(result, lesson))
    return FilledTable(bytes(table), found, not_graded, "\n".join(lines), doubts)


def _doubts_by_grades(
    table: Table, cells: Sequence[tuple[StudentResult, Row, int]], results: ClassResults, lesson: str
) -> list[str]:
    before = [(student, read_number(table.read(row, place))) for student, row, place in cells]
    grades = [(student, grade) for student, grade in before if grade is not None]
    return (
        doubts_by_grades(lesson, results, grades, lambda student, of: _points(student, results, of)) if lesson else []
    )


def _person_in(table: Table, row: Row, columns: Mapping[str, int | None]) -> Person:
    read = {key: table.read(row, column) for key, column in columns.items()}
    name = read["name"] or f"{read['first name']} {read['last name']}".strip()
    number = participant_number(read["id"]) or read["id"]
    return Person(number or read["email"] or name, name, read["email"])


def _maximum_warning(
    table: Table,
    maximum: int | None,
    cells: Sequence[tuple[StudentResult, Row, int]],
    results: ClassResults,
    lesson: str,
) -> list[str]:
    """Return a line if Moodle's maximum grade differs from the lesson's points; Moodle rejects higher grades."""
    maxima = {read_number(table.read(row, maximum)) for _, row, _ in cells} - {None}
    possible = _possible(results, lesson)
    if len(maxima) != 1 or (moodle_maximum := maxima.pop()) == possible or moodle_maximum is None:
        return []
    return [
        f"Moodle's maximum grade is {_plain(moodle_maximum)}, but there are {_plain(possible)} points. Set the maximum "
        f"grade of the assignment to {_plain(possible)} before you upload the worksheet."
    ]


def _fill_in(
    table: Table, cells: Sequence[tuple[StudentResult, Row, int]], results: ClassResults, lesson: str
) -> list[str]:
    """Write each student's points into a cell, and return lines about cells that contained different points."""
    changes = []
    for student, row, place in cells:
        before, now = table.read(row, place), _points(student, results, lesson)
        table.write_number(row, place, now)
        if before not in ("", "-") and read_number(before) != now:
            changes.append(f"  {student.name}: {before} → {_plain(now)}")
    more = [f"  … and {len(changes) - MAX_LISTED} more"] if len(changes) > MAX_LISTED else []
    return [f"Cells that contained different points ({len(changes)}):", *changes[:MAX_LISTED], *more] if changes else []


def short_feedback(student: StudentResult, lesson: str = "") -> str:
    """Return the feedback on all exercises as one line of HTML."""
    lines: list[str] = []
    for lesson_result in _lessons(student, lesson):
        lateness = lesson_result.lateness
        late = f" {lateness.message[0].upper()}{lateness.message[1:]}." if lateness.concerns_student else ""
        points, of = _plain(lesson_result.points), max_points([lesson_result.lesson])
        lines.append(Markup("<b>{}</b>: {} of {} points.{}").format(lesson_result.lesson, points, of, late))
        for result in lesson_result.exercises:
            panel = result.graded.verdict.panel if result.graded else None
            title = panel.title if panel else f"{result.exercise.name}: not submitted"
            bonus = "bonus: " if result.exercise.stretch else ""
            points = as_html(f"{title} ({bonus}{_plain(result.points)} of {result.exercise.points}).")
            finding = (
                "" if panel is None or (result.graded and result.graded.verdict.passed) else _finding(panel.message)
            )
            comment = _in_one_line(result.override.comment if result.override else "")
            lines.append(Markup("{} {} {}").format(points, finding, comment).strip())
    for answer in student.written:
        if lesson in ("", answer.lesson):
            question, comment = _in_one_line(answer.question), _in_one_line(answer.comment)
            lines.append(Markup("{} ({}). {}").format(question, mark(answer), comment).strip())
    if student.comment:
        lines.append(_in_one_line(student.comment))
    return str(Markup("<br>").join(lines))


def _finding(message: str) -> Markup:
    """Return a message as one line of HTML; lines indented by four spaces are code or numbers."""
    blocks = []
    for is_code, lines in groupby(message.splitlines(), lambda line: line.startswith("    ")):
        if is_code:
            blocks.append(Markup("<pre>{}</pre>").format(Markup("<br>").join(line[4:] for line in lines)))
        else:
            blocks.append(Markup("<br>").join(as_html(line) for line in lines if line))
    return Markup(" ").join(filter(None, blocks))


def _in_one_line(text: str) -> str:
    return " ".join(text.split())


def _matched(
    results: ClassResults, rows: dict[Person, str], lesson: str
) -> tuple[dict[Person, StudentResult], dict[Person, StudentResult], str]:
    """Find each student's row. The row of a student without graded work does not get points.

    Args:
        results: The results of the class.
        rows: The person in each row, with their id at the university or an empty string.
        lesson: The lesson to export; empty for the sum of all lessons.

    Returns:
        The result for each row that gets points, the results of students whose submissions could not be graded, and
        lines that describe the matches.
    """
    if lesson and lesson not in results.lessons:
        raise ValueError(f"no student submitted {lesson!r}; the submitted lessons are {', '.join(results.lessons)}")
    by_system = Roster(list(rows))
    by_university = {sis_id: person for person, sis_id in rows.items() if sis_id}
    found: dict[Person, StudentResult] = {}
    not_graded: dict[Person, StudentResult] = {}
    lines = []
    for student in results.students:
        own = student.person
        of_lesson = [notebook.submission for notebook in student.notebooks if lesson in ("", notebook.lesson)]
        lms_ids = dict.fromkeys(submission.lms_id for submission in of_lesson)
        # Moodle's numbers change with each assignment, so permanent identifiers come first.
        names = list(filter(None, (own.email, own.login, own.name, own.id, *lms_ids)))
        exact = next(filter(None, map(by_system.find_exactly, names)), None)
        person = by_university.get(own.id) or exact or by_system.find(own.name or own.id)
        is_graded = any(
            lesson_result.notebook and lesson_result.notebook.exercises for lesson_result in _lessons(student, lesson)
        )
        if not is_graded and not _has_points(student, lesson):
            problems = student.not_graded(lesson)
            if problems and person is not None:
                not_graded.setdefault(person, student)
            is_other = lesson and not problems and student.status != NOTHING_SUBMITTED
            reason = f"nothing submitted for {lesson}" if is_other else student.status
            reason = "could not be graded" if problems else reason
            lines.append(f"  {student.name}: {reason}; the cell is unchanged.")
        elif person is None:
            lines.append(f"  {student.name}: no row matches this student.")
        elif person in found:
            lines.append(f"  {student.name}: matches the same row as {found[person].name}.")
        else:
            found[person] = student
    not_graded = {person: student for person, student in not_graded.items() if person not in found}
    return found, not_graded, "\n".join([f"{len(found)} of {len(rows)} rows get points.", *lines])


def _lessons(student: StudentResult, lesson: str) -> list[LessonResult]:
    return [lesson_result for lesson_result in student.lessons.values() if lesson in ("", lesson_result.lesson)]


def _has_points(student: StudentResult, lesson: str) -> bool:
    return any(lesson_result.points or lesson_result.bonus for lesson_result in _lessons(student, lesson))


def _points(student: StudentResult, results: ClassResults, lesson: str) -> float:
    """Return the points minus the late penalty, plus the points for written answers."""
    written = sum(answer.points or 0 for answer in student.written if lesson in ("", answer.lesson))
    counted = [
        (result.points_after, result.bonus if results.rules.bonus else 0) for result in _lessons(student, lesson)
    ]
    return round(written + sum(map(sum, counted)), 2)


def _possible(results: ClassResults, lesson: str) -> float:
    """Return the maximum points without bonus: the points for core exercises and for questions with a maximum."""
    questions = {
        (answer.lesson, answer.question): answer.of or 0
        for student in results.students
        for answer in student.written
        if lesson in ("", answer.lesson)
    }
    return max_points([lesson] if lesson else results.lessons) + sum(questions.values())


def _plain(number: float) -> str:
    return f"{plain_number(round(number, 2)):g}"
