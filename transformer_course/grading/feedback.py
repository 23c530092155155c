"""A page of feedback for each student, as HTML."""

import html
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from transformer_course.checking.hints import hints_about
from transformer_course.checking.message_panel import Panel
from transformer_course.exercises import every_lesson
from transformer_course.grading.class_results import (
    ClassResults,
    ExerciseResult,
    LessonResult,
    StudentResult,
    max_points,
    plain_number,
)
from transformer_course.grading.graded_results import GradedExercise, GradedSubmission
from transformer_course.grading.marked_code import marked_code
from transformer_course.grading.page_template import PAGE_TEMPLATE, preformatted
from transformer_course.grading.printable_text import file_stem
from transformer_course.grading.written_answers import WrittenAnswer
from transformer_course.grading.written_page import mark
from transformer_lab.atomic_write import atomic_write_text

TO_ASK = "If you think that one of these verdicts is wrong, tell your instructor which one, and why."
"""The last line of a page."""


def write_feedback(folder: Path, results: ClassResults) -> None:
    """Write one page per student, and delete the pages of an earlier grading."""
    folder.mkdir(parents=True, exist_ok=True)
    names = file_names([student.name for student in results.students])
    for student in results.students:
        atomic_write_text(folder / names[student.name], feedback_page(student))
    for path in folder.glob("*.html"):
        if path.name not in names.values():
            path.unlink()


def file_names(students: Sequence[str]) -> dict[str, str]:
    """Map each student to a file name of their own that every operating system accepts."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for student in sorted(students):
        stem = file_stem(student) or "student"
        if re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", stem):  # names of devices on Windows
            stem = f"_{stem}"
        name, number = f"{stem}.html", 2
        while name.casefold() in taken:
            name, number = f"{stem}-{number}.html", number + 1
        taken.add(name.casefold())
        names[student] = name
    return names


def feedback_page(student: StudentResult) -> str:
    """Return a student's page as HTML: the points, then every lesson with the verdict on each exercise."""
    maximum = max_points(list(student.lessons))
    parts = [f"<h1>{html.escape(student.name)}</h1>", f"<p>{_points(student.points, maximum, student.bonus)}.</p>"]
    if student.points_after != student.points:
        parts.append(f"<p>{plain_number(student.points_after)} points after the deduction for lateness.</p>")
    if student.comment:
        parts.append(_comment(student.comment))
    if student.written:
        parts += ["<h2>Written answers</h2>", *map(_written_panel, student.written)]
    counted = {id(lesson.notebook): lesson for lesson in student.lessons.values()}
    for lesson in [*every_lesson(), ""]:
        of_lesson = [notebook for notebook in student.notebooks if notebook.submission.lesson == lesson]
        for notebook in sorted(of_lesson, key=lambda notebook: id(notebook) not in counted):  # the best first
            parts += _notebook_section(notebook, counted.get(id(notebook)))
    for lesson, shown in student.lessons.items():
        if shown.notebook is None:
            parts += [f"<h2>{lesson}</h2><p>Not handed in.</p>"]
            parts += [panel for one in shown.exercises if one.override for panel in _exercise_panels(one, {})]
    body = "\n".join(["<main>", *parts, f"<p>{TO_ASK}</p>", "</main>"])
    return PAGE_TEMPLATE.format(title=html.escape(student.name), body=body)


def _points(points: float, maximum: float, bonus: float) -> str:
    told = f"{plain_number(points)} of {plain_number(maximum)} points"
    return told + (f", and {plain_number(bonus)} bonus" if bonus else "")


def _written_panel(one: WrittenAnswer) -> str:
    criteria = [f"What was looked for: {one.rubric}"] if one.rubric and one.points is not None else []
    panel = Panel(f"{one.lesson}, {one.question} ({mark(one)})", "\n".join([*criteria, one.comment]), "plain")
    return f"{panel._repr_html_()}{preformatted(one.answer)}"


def _comment(comment: str) -> str:
    return Panel("A comment by your instructor", comment, "plain")._repr_html_()


def _notebook_section(notebook: GradedSubmission, lesson: LessonResult | None) -> list[str]:
    name, problem = html.escape(notebook.submission.file), notebook.submission.problem
    if problem:
        return [f"<h2>{name}</h2>", Panel("It could not be graded", problem, "bad")._repr_html_()]
    maximum = max_points([notebook.submission.lesson])
    if lesson is None:
        shown = [ExerciseResult(one.exercise, one) for one in notebook.exercises]
        panels = [panel for one in shown for panel in _exercise_panels(one, notebook.answers)]
        points = _points(notebook.points, maximum, notebook.bonus)
        return [f"<details><summary>{name}: {points}. Another notebook counts.</summary>", *panels, "</details>"]
    panels = [panel for one in lesson.exercises for panel in _exercise_panels(one, notebook.answers)]
    late = []
    if lesson.lateness.says:
        after = f": {plain_number(lesson.points_after)} points" if lesson.points_after != lesson.points else ""
        late = [f"<p>{html.escape(lesson.lateness.says[:1].upper() + lesson.lateness.says[1:])}{after}.</p>"]
    return [f"<h2>{name}: {_points(lesson.points, maximum, lesson.bonus)}</h2>", *late, *panels]


def _exercise_panels(result: ExerciseResult, answers: Mapping[str, str]) -> Iterator[str]:
    by_hand = result.override is not None and result.override.points is not None
    bonus, given = "bonus: " if result.exercise.stretch else "", ", given by hand" if by_hand else ""
    points = f"({bonus}{plain_number(result.points)} of {result.exercise.points}{given})"
    panel = result.graded.verdict.panel if result.graded else Panel(result.exercise.name, "", "plain")
    yield replace(panel, title=f"{panel.title} {points}")._repr_html_()
    is_begun = result.graded is not None and result.graded.verdict.status != "not_started"
    if result.graded and is_begun and (code := answers.get(result.exercise.name)):
        shown, is_marked = marked_code(code, result.graded.verdict.message)
        yield f"<details class='code'{' open' * is_marked}><summary>Your code</summary>{shown}</details>"
    if result.override and result.override.request:
        yield Panel("You asked", result.override.request, "plain")._repr_html_()
    if result.override and result.override.comment:
        yield _comment(result.override.comment)
    if result.graded and (hint := _hint(result.graded)):
        yield Panel("A hint", hint, "help")._repr_html_()


def _hint(graded: GradedExercise) -> str:
    """Return the hint that says more than the verdict; "" where there is none about this very attempt."""
    verdict = graded.verdict
    if verdict.mistake:
        return (verdict.hints or hints_about(graded.exercise, verdict.mistake) or graded.exercise.hints)[0]
    return verdict.hints[1] if len(verdict.hints) > 1 else ""  # the first asks what the place has told
