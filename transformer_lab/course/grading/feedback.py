"""Write a page of feedback for each student."""

import html
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

from transformer_lab.course.exercises import LESSONS
from transformer_lab.course.grading.assess import Graded, Work
from transformer_lab.course.grading.gradebook import counting, lessons_of, reachable
from transformer_lab.course.panel import Panel

PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>{title}</title>
<style>
:root {{ color-scheme: light dark }}
body {{ font: 1rem/1.5 system-ui, sans-serif; max-width: 60em; margin: 2em auto; padding: 0 1em }}
h3 {{ margin: 1.5em 0 0 }}
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
    more = f", and {bonus} bonus" if bonus else ""
    parts = [f"<h1>{html.escape(student)}</h1>", f"<p>{points} of {reachable(lessons)} points{more}.</p>"]
    for lesson in [*LESSONS, ""]:
        for work in works:
            if work.submission.lesson == lesson:
                parts += _notebook(work, is_counted=counts.get(lesson) is work)
    parts += [f"<h2>{lesson}</h2><p>Not handed in.</p>" for lesson in lessons if lesson not in counts]
    return PAGE.format(title=html.escape(student), body="\n".join(parts))


def _notebook(work: Work, is_counted: bool) -> list[str]:
    head = f"<h2>{html.escape(work.submission.file)}</h2>"
    if work.submission.problem:
        return [head, Panel("It could not be graded", work.submission.problem, "bad")._repr_html_()]
    other = (
        "" if is_counted else "<p>Another notebook of this lesson counts instead: it has as many points or more.</p>"
    )
    return [head, other, *(part for one in work.graded for part in _exercise(one))]


def _exercise(one: Graded) -> list[str]:
    star = " ★" if one.exercise.stretch else ""
    head = f"<h3>{one.exercise.name}{star}: {one.points} of {one.exercise.points}</h3>"
    return [head, one.verdict.panel._repr_html_(), *([_hint(one)] if one.verdict.mistake else [])]


def _hint(one: Graded) -> str:
    mistake = next(m for m in one.exercise.mistakes if m.name == one.verdict.mistake)
    return Panel("A hint", mistake.hints[0], "help")._repr_html_()
