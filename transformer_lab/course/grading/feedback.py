"""A page of feedback for each student, as HTML."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from transformer_lab.atomic_write import atomic_write_text
from transformer_lab.course.checking.ladders import ladder
from transformer_lab.course.checking.panel import Panel
from transformer_lab.course.exercises import LESSONS
from transformer_lab.course.grading.assess import GradedExercise, GradedSubmission
from transformer_lab.course.grading.gradebook import best_per_lesson, lessons_of, max_points

PAGE_TEMPLATE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }}
h2, summary {{ margin: 1.5em 0 0.5em }}
summary {{ cursor: pointer }}
pre, code {{ font-family: ui-monospace, monospace; overflow-wrap: anywhere }}
</style>
{body}
</html>
"""


def write_feedback(folder: Path, students: Mapping[str, Sequence[GradedSubmission]]) -> None:
    """Write one page per student, and delete the pages of an earlier grading."""
    folder.mkdir(parents=True, exist_ok=True)
    lessons, names = lessons_of(students), file_names(list(students))
    for student, name in names.items():
        atomic_write_text(folder / name, feedback_page(student, students[student], lessons))
    for path in folder.glob("*.html"):
        if path.name not in names.values():
            path.unlink()


def file_names(students: Sequence[str]) -> dict[str, str]:
    """Map each student to a file name of their own that every operating system accepts."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for student in sorted(students):
        stem = re.sub(r"[^\w.-]+", "_", student).strip("._")[:60] or "student"
        if re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", stem):  # names of devices on Windows
            stem = f"_{stem}"
        name, number = f"{stem}.html", 2
        while name.casefold() in taken:
            name, number = f"{stem}-{number}.html", number + 1
        taken.add(name.casefold())
        names[student] = name
    return names


def feedback_page(student: str, notebooks: Sequence[GradedSubmission], lessons: Sequence[str]) -> str:
    """Return a student's page as HTML: the points, then every lesson with the verdict on each exercise.

    Args:
        student: The student's name.
        notebooks: Everything that the student handed in.
        lessons: The lessons that are graded, whether this student handed them in or not.
    """
    best = best_per_lesson(notebooks)
    points, bonus = (sum(getattr(notebook, kind) for notebook in best.values()) for kind in ("points", "bonus"))
    parts = [f"<h1>{html.escape(student)}</h1>", f"<p>{_points(points, max_points(lessons), bonus)}.</p>"]
    for lesson in [*LESSONS, ""]:
        of_lesson = [notebook for notebook in notebooks if notebook.submission.lesson == lesson]
        for notebook in sorted(of_lesson, key=lambda notebook: best.get(lesson) is not notebook):  # the best first
            parts += _notebook_section(notebook, is_best=best.get(lesson) is notebook)
    parts += [f"<h2>{lesson}</h2><p>Not handed in.</p>" for lesson in lessons if lesson not in best]
    return PAGE_TEMPLATE.format(title=html.escape(student), body="\n".join(parts))


def _points(points: int, maximum: int, bonus: int) -> str:
    return f"{points} of {maximum} points" + (f", and {bonus} bonus" if bonus else "")


def _notebook_section(notebook: GradedSubmission, is_best: bool) -> list[str]:
    name, problem = html.escape(notebook.submission.file), notebook.submission.problem
    if problem:
        return [f"<h2>{name}</h2>", Panel("It could not be graded", problem, "bad")._repr_html_()]
    points = _points(notebook.points, max_points([notebook.submission.lesson]), notebook.bonus)
    panels = [panel for one in notebook.exercises for panel in _exercise_panels(one)]
    if is_best:
        return [f"<h2>{name}: {points}</h2>", *panels]
    return [f"<details><summary>{name}: {points}. Another notebook counts.</summary>", *panels, "</details>"]


def _exercise_panels(graded: GradedExercise) -> list[str]:
    panel, bonus = graded.verdict.panel, "bonus: " if graded.exercise.stretch else ""
    titled = replace(panel, title=f"{panel.title} ({bonus}{graded.points} of {graded.exercise.points})")
    hint = _hint(graded)
    return [titled._repr_html_(), *([Panel("A hint", hint, "help")._repr_html_()] if hint else [])]


def _hint(graded: GradedExercise) -> str:
    """Return the hint that says more than the verdict; "" where there is none about this very attempt."""
    verdict = graded.verdict
    if verdict.mistake:
        return (verdict.hints or ladder(graded.exercise, verdict.mistake) or graded.exercise.hints)[0]
    return verdict.hints[1] if len(verdict.hints) > 1 else ""  # the first asks what the place has told
