"""Write a page of feedback for each student."""

import html
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from transformer_lab.course.checking.panel import Panel
from transformer_lab.course.exercises import LESSONS
from transformer_lab.course.grading.assess import Graded, Work
from transformer_lab.course.grading.gradebook import counting, lessons_of, reachable

PAGE = """<!doctype html>
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


def write(folder: Path, students: Mapping[str, Sequence[Work]]) -> None:
    """Write one page per student, in place of the pages of an earlier grading."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.html"):
        old.unlink()
    lessons = lessons_of(students)
    for student, name in file_names(list(students)).items():
        (folder / name).write_text(page(student, students[student], lessons), "utf-8")


def file_names(students: Sequence[str]) -> dict[str, str]:
    """Give each student a file name that every system accepts and that no other student has."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for student in sorted(students):
        stem = re.sub(r"[^\w.-]+", "_", student).strip("._")[:60] or "student"
        if re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", stem):  # devices, to Windows
            stem = f"_{stem}"
        name, number = f"{stem}.html", 2
        while name.casefold() in taken:
            name, number = f"{stem}-{number}.html", number + 1
        taken.add(name.casefold())
        names[student] = name
    return names


def page(student: str, works: Sequence[Work], lessons: Sequence[str]) -> str:
    """Make a student's page: the points, then every lesson with what is said about each exercise."""
    counts = counting(works)
    points, bonus = (sum(getattr(work, what) for work in counts.values()) for what in ("points", "bonus"))
    parts = [f"<h1>{html.escape(student)}</h1>", f"<p>{_points(points, reachable(lessons), bonus)}.</p>"]
    for lesson in [*LESSONS, ""]:
        theirs = [work for work in works if work.submission.lesson == lesson]
        for work in sorted(theirs, key=lambda work: counts.get(lesson) is not work):  # the one that counts comes first
            parts += _notebook(work, is_counted=counts.get(lesson) is work)
    parts += [f"<h2>{lesson}</h2><p>Not handed in.</p>" for lesson in lessons if lesson not in counts]
    return PAGE.format(title=html.escape(student), body="\n".join(parts))


def _points(points: int, reachable: int, bonus: int) -> str:
    return f"{points} of {reachable} points" + (f", and {bonus} bonus" if bonus else "")


def _notebook(work: Work, is_counted: bool) -> list[str]:
    name = html.escape(work.submission.file)
    if work.submission.problem:
        return [f"<h2>{name}</h2>", Panel("It could not be graded", work.submission.problem, "bad")._repr_html_()]
    head = f"{name}: {_points(work.points, reachable([work.submission.lesson]), work.bonus)}"
    exercises = [part for one in work.graded for part in _exercise(one)]
    if is_counted:
        return [f"<h2>{head}</h2>", *exercises]
    return [f"<details><summary>{head}. Another notebook counts.</summary>", *exercises, "</details>"]


def _exercise(one: Graded) -> list[str]:
    panel, bonus = one.verdict.panel, "bonus: " if one.exercise.stretch else ""
    titled = replace(panel, title=f"{panel.title} ({bonus}{one.points} of {one.exercise.points})")
    return [titled._repr_html_(), *([_hint(one)] if one.verdict.mistake else [])]


def _hint(one: Graded) -> str:
    mistake = next(m for m in one.exercise.mistakes if m.name == one.verdict.mistake)
    return Panel("A hint", mistake.hints[0], "help")._repr_html_()
