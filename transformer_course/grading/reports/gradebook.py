"""Write the gradebook, a table with a row for each student, and all results as JSON."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from transformer_course.checking.formatting import join_words
from transformer_course.exercise import Exercise
from transformer_course.grading.incoming.printable_text import printable
from transformer_course.grading.incoming.tables import as_csv
from transformer_course.grading.judging.student_records import as_dict
from transformer_course.grading.reports.student_results import ClassResults, LessonResult, StudentResult, plain_number
from transformer_lab.atomic_write import atomic_write_text

MAX_LISTED_STUDENTS = 20
"""Maximum size of a class for which the summary lists every student."""


def gradebook_row(student: StudentResult, results: ClassResults) -> dict[str, Any]:
    """Return a student's row in the gradebook, with the points for each exercise, the total, lateness and remarks."""
    person = student.person
    displayed = asdict(person) if results.is_listed else {}
    if not any(student.person.group for student in results.students):
        displayed.pop("group", None)
    lessons = student.lessons.values()
    counted = [lesson for lesson in lessons if lesson.notebook]
    submitted = " ".join(f"{lesson.lesson}: {_submitted(lesson, results.rules.late_policy.zone)}" for lesson in counted)
    # If a time is unknown, the column "submitted" gives the reason.
    late = [f"{lesson.lesson}: {lesson.lateness.message}." for lesson in counted if lesson.lateness.concerns_student]
    after = {"late": " ".join(late), "points after lateness": plain_number(student.points_after)}
    return {
        "student": student.name,
        **displayed,
        **{_column(lesson.lesson, e.exercise): plain_number(e.points) for lesson in lessons for e in lesson.exercises},
        "points": plain_number(student.points),
        "of": results.max_points,
        "bonus": plain_number(student.bonus),
        "submitted": submitted,
        **({"written": _written(student)} if results.has_written_answers else {}),
        **(after if results.has_lateness else {}),
        "status": student.status,
        "isolation": student.isolation,
        "notebooks": " ".join(
            f"{lesson.lesson}:{lesson.notebook.submission.sha256}" for lesson in counted if lesson.notebook
        ),
        "remarks": _in_one_line(student.remarks),
        "comment": _in_one_line(_comments(student)),
    }


def _submitted(lesson: LessonResult, zone: ZoneInfo | None) -> str:
    time, source = lesson.submitted(zone)
    return f"{time} ({source})." if source else f"{time}."


def _in_one_line(texts: Iterable[str]) -> str:
    return " ".join(" ".join(texts).split())


def _written(student: StudentResult) -> float | None:
    """Return the points for all written answers, or None if an answer has not been marked."""
    points = [answer.points for answer in student.written]
    return None if None in points else plain_number(round(sum(filter(None, points)), 2))


def _comments(student: StudentResult) -> Iterator[str]:
    for lesson in student.lessons.values():
        for result in lesson.exercises:
            if result.override and result.override.comment:
                yield f"{result.exercise.name}: {result.override.comment}"
    if student.comment:
        yield student.comment


def _column(lesson: str, exercise: Exercise) -> str:
    return f"{lesson}: {exercise.name}{' (bonus)' if exercise.stretch else ''}"


def write_gradebook(out: Path, results: ClassResults, settings: Mapping[str, Any]) -> None:
    """Write ``gradebook.csv`` and ``results.json``; ``docs/results.schema.json`` is the schema of the JSON file.

    Args:
        out: The folder to write to.
        results: The results of the class.
        settings: The settings of the run, from ``settings.new_settings``.
    """
    content = {
        **settings,
        "lessons": list(results.lessons),
        "of": results.max_points,
        "alike": [asdict(pair) for pair in results.similar],
        "students": {student.name: _as_dict(student) for student in results.students},
    }
    out.mkdir(parents=True, exist_ok=True)
    atomic_write_text(out / "results.json", json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    atomic_write_text(out / "gradebook.csv", as_csv([gradebook_row(student, results) for student in results.students]))


def _as_dict(student: StudentResult) -> dict[str, Any]:
    return {
        **asdict(student.person),
        "status": student.status,
        "isolation": student.isolation,
        "points": plain_number(student.points),
        "bonus": plain_number(student.bonus),
        "points_after_lateness": plain_number(student.points_after),
        "remarks": list(student.remarks),
        "comment": student.comment,
        "written": [asdict(answer) for answer in student.written],
        "lessons": {
            name: {
                "notebook": lesson.notebook.submission.sha256 if lesson.notebook else "",
                "points": plain_number(lesson.points),
                "bonus": plain_number(lesson.bonus),
                "points_after_lateness": plain_number(lesson.points_after),
                "late": lesson.lateness.message,
                "days_late": lesson.lateness.days,
                "exercises": {
                    result.exercise.name: {
                        "points": plain_number(result.points),
                        "grader_points": plain_number(result.automatic_points),
                        "by_hand": result.override is not None and result.override.points is not None,
                        "comment": result.override.comment if result.override else "",
                    }
                    for result in lesson.exercises
                },
            }
            for name, lesson in student.lessons.items()
        },
        "notebooks": [as_dict(notebook) for notebook in student.notebooks],
    }


def summary(out: Path, results: ClassResults, n_kept: int = 0) -> str:
    """Return a summary with the graded students, the problems, and the number of results from earlier runs."""
    notebooks = [notebook for student in results.students for notebook in student.notebooks]
    graded_lessons = [notebook.submission.lesson for notebook in notebooks if not notebook.submission.problem]
    counts = [f"{lesson} ({graded_lessons.count(lesson)})" for lesson in results.lessons]
    n_students = sum(student.status.startswith("graded") for student in results.students)
    total = f"Graded {pluralize(len(graded_lessons), 'notebook')} from {pluralize(n_students, 'student')}"
    lines = [f"{total}: {', '.join(counts)}." if counts else f"{total}."]
    if n_kept:
        lines.append(f"  The results of {pluralize(n_kept, 'student')} are from an earlier run.")
    for student in results.students if len(results.students) <= MAX_LISTED_STUDENTS else []:
        bonus = f" and {plain_number(student.bonus)} bonus" if student.bonus else ""
        late = f", {plain_number(student.points_after)} after lateness" * (student.points_after != student.points)
        lines.append(f"  {student.name}: {plain_number(student.points)} of {results.max_points} points{bonus}{late}")
    for submission in [notebook.submission for notebook in notebooks if notebook.submission.problem]:
        lines.append(f"  {printable(str(submission.path))}: {submission.problem}")
    lines += [f"  {student.name}: {line}" for student in results.students for line in student.not_judged]
    lines += [f"  {student.name}: {remark}" for student in results.students for remark in student.remarks_on_name]
    for lesson, names in results.without_submission.items():
        for_lesson = f" for {lesson}" if lesson else ""
        missing = f"{pluralize(len(names), 'student')} in the roster submitted nothing{for_lesson}"
        lines.append(f"  {missing}: {join_words([printable(name) for name in names], MAX_LISTED_STUDENTS)}.")
    for student in results.students:
        if not student.is_listed:
            matches = f" Possible matches: {' or '.join(student.candidates)}." if student.candidates else ""
            lines.append(f"  {printable(student.name)} is not in the roster.{matches}")
    lines += [f"  {line}" for line in results.remarks]
    if results.changes:
        lines.append(f"  Points changed since last time: {pluralize(len(results.changes), 'student')}.")
        lines += [f"    {line}" for line in results.changes[:MAX_LISTED_STUDENTS]]
    lines += [f"  {line}" for line in results.held_back]
    if rules := "; ".join(results.rules.describe()):
        lines.append(f"  Rules: {rules}.")
    return "\n".join([*lines, f"The gradebook, the class page and the feedback are in {out}."])


def pluralize(number: int, noun: str) -> str:
    """Return a number and a noun, in the plural unless the number is 1."""
    return f"{number} {noun}{'' if number == 1 else 's'}"
