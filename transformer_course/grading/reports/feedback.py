"""Write an HTML page of feedback for each student."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from transformer_course.checking.hints import hints_about
from transformer_course.checking.message_panel import Panel
from transformer_course.exercises import every_lesson
from transformer_course.grading.incoming.printable_text import file_stem
from transformer_course.grading.incoming.written_answers import WrittenAnswer
from transformer_course.grading.reports.marked_code import marked_code
from transformer_course.grading.reports.student_results import (
    ClassResults,
    ExerciseResult,
    StudentResult,
    max_points,
    plain_number,
)
from transformer_course.grading.reports.written_page import mark
from transformer_course.templates import render
from transformer_lab.atomic_write import atomic_write_text


def write_feedback(folder: Path, results: ClassResults) -> None:
    """Write a page for each student, and delete other pages from earlier runs."""
    folder.mkdir(parents=True, exist_ok=True)
    names = file_names([student.name for student in results.students])
    for student in results.students:
        atomic_write_text(folder / names[student.name], feedback_page(student))
    for path in folder.glob("*.html"):
        if path.name not in names.values():
            path.unlink()


def file_names(students: Sequence[str]) -> dict[str, str]:
    """Map each student to a unique file name that every operating system accepts."""
    names: dict[str, str] = {}
    used: set[str] = set()
    for student in sorted(students):
        stem = file_stem(student) or "student"
        if re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", stem):  # reserved names on Windows
            stem = f"_{stem}"
        name, number = f"{stem}.html", 2
        while name.casefold() in used:
            name, number = f"{stem}-{number}.html", number + 1
        used.add(name.casefold())
        names[student] = name
    return names


def feedback_page(student: StudentResult) -> str:
    """Return a student's HTML page with the points and, for every lesson, the verdicts on the exercises."""
    counted = {id(lesson.notebook): lesson for lesson in student.lessons.values()}
    notebooks = []
    without_notebook = {lesson.lesson for lesson in student.lessons.values() if lesson.notebook is None}
    for lesson in [*every_lesson(), ""]:
        of_lesson = [
            notebook for notebook in student.notebooks if notebook.lesson == lesson and lesson not in without_notebook
        ]
        best_first = sorted(of_lesson, key=lambda notebook: id(notebook) not in counted)
        notebooks += [(notebook, counted.get(id(notebook))) for notebook in best_first]
    return render(
        __package__,
        "feedback.html",
        student=student,
        notebooks=notebooks,
        number=plain_number,
        max_points=max_points,
        Panel=Panel,
        ExerciseResult=ExerciseResult,
        written_panel=_written_panel,
        verdict_panel=_verdict_panel,
        own_code=_own_code,
        hint=_hint,
    )


def _written_panel(answer: WrittenAnswer) -> Panel:
    criteria = [f"Criteria: {answer.rubric}"] if answer.rubric and answer.points is not None else []
    title = f"{answer.lesson}, {answer.question} ({mark(answer)})"
    return Panel(title, "\n".join([*criteria, answer.comment]), "plain")


def _verdict_panel(result: ExerciseResult) -> Panel:
    by_hand = result.override is not None and result.override.points is not None
    bonus, source = "bonus: " if result.exercise.stretch else "", ", entered by your instructor" if by_hand else ""
    points = f"({bonus}{plain_number(result.points)} of {result.exercise.points}{source})"
    panel = result.graded.verdict.panel if result.graded else Panel(result.exercise.name, "", "plain")
    return replace(panel, title=f"{panel.title} {points}")


def _own_code(result: ExerciseResult, answers: Mapping[str, str]) -> tuple[str, bool]:
    """Return the student's code as HTML, or "" if the exercise was not started, and whether an expression is marked."""
    code = answers.get(result.exercise.name)
    if not code or result.graded is None or result.graded.verdict.status == "not_started":
        return "", False
    return marked_code(code, result.graded.verdict.message)


def _hint(result: ExerciseResult) -> str:
    """Return the first hint that adds something to the verdict, or an empty string."""
    if result.graded is None:
        return ""
    verdict = result.graded.verdict
    if verdict.mistake:
        return (verdict.hints or hints_about(result.exercise, verdict.mistake) or result.exercise.hints)[0]
    return verdict.hints[1] if len(verdict.hints) > 1 else ""  # the first hint only points to the location
