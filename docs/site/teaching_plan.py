"""Generate the tables and notes in an instructor's plan from the lessons.

``python -m docs.site.teaching_plan`` writes the tables to ``docs/instructors.md``, for readers who do not use the web
edition.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nbformat import NotebookNode

from docs.site.repository import ROOT
from transformer_course.exercises import UNGRADED, exercises_of
from transformer_course.home.reading_time import promised_minutes
from transformer_course.lesson_order import place

PLACEHOLDER = "<!-- the web edition shows here: {} -->"
"""The placeholder for a computed part that only the web edition shows. In rendered Markdown, it is invisible."""
STORED = re.compile(r"<!-- made from the lessons: (.+?) -->\n.*?\n<!-- end -->", re.DOTALL)
GUIDE = ROOT / "docs" / "instructors.md"
NOTES = ROOT / "docs" / "lesson_notes.md"


@dataclass(frozen=True)
class PlannedLesson:
    """An instructor's plan for a lesson."""

    name: str
    title: str
    goal: str
    """The end of the sentence "After this lesson, students can …"."""
    reading: int
    """Reading time in minutes."""
    exercises: int
    """Time for the exercises in minutes."""
    n_core: int
    n_stretch: int
    points: int
    bonus: int
    stumbles: str
    """Common difficulties, as a Markdown list in one line."""
    questions: str
    """Questions to ask in class, as a Markdown list in one line."""


def planned_lessons(lessons: Mapping[str, NotebookNode]) -> list[PlannedLesson]:
    """Return a plan for each lesson with graded exercises, in order."""
    return [planned_lesson(name, book) for name, book in lessons.items() if name not in UNGRADED]


def note_to(name: str) -> str:
    """Return the note on a lesson in one line, or "" if the lesson has no note."""
    found = re.search(rf"^## {name}\n(.*?)(?=^## |\Z)", NOTES.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
    return " ".join(found[1].split()) if found else ""


def planned_lesson(name: str, book: NotebookNode) -> PlannedLesson:
    """Return the plan for a lesson, based on its title cell, its exercises and its note.

    Raises:
        ValueError: The title cell does not contain the minutes.
    """
    head = book.cells[0].source
    reading, solving = promised_minutes(book, "Reading"), promised_minutes(book, "Exercises")
    if reading is None or solving is None:
        raise ValueError(
            f"the first cell of {name} must give the minutes for reading and for the exercises; got {head!r}"
        )
    goal = re.search(r"\*\*Afterwards you can\*\* (.*?)\n\n", head, re.DOTALL)
    exercises = exercises_of(name)
    core, stretch = ([e.points for e in exercises if e.stretch is bonus] for bonus in (False, True))
    note = note_to(name)
    return PlannedLesson(
        name,
        head.partition("\n")[0].removeprefix("# "),
        " ".join(goal[1].split()) if goal else "",
        reading,
        solving,
        len(core),
        len(stretch),
        sum(core),
        sum(stretch),
        _part(note, "Where students stumble"),
        _part(note, "To ask in class"),
    )


def with_tables(text: str, plan: Sequence[PlannedLesson]) -> str:
    """Update the tables in a text without changing the comments around them.

    Raises:
        ValueError: The text does not contain the comment of each table, in order.
    """
    computed = {"the minutes of each lesson": minutes, "the sums of three courses": courses}
    if (found := STORED.findall(text)) != list(computed):
        raise ValueError(f"the text must contain comments for the tables {list(computed)}, in this order; got {found}")
    return STORED.sub(
        lambda at: f"<!-- made from the lessons: {at[1]} -->\n\n{computed[at[1]](plan)}\n\n<!-- end -->", text
    )


def fill_in(text: str, lessons: Mapping[str, NotebookNode]) -> str:
    """Update the tables in a text and replace its placeholder with the notes on each lesson.

    Raises:
        ValueError: A comment or placeholder in the text is missing or unknown.
    """
    plan = planned_lessons(lessons)
    text = re.sub(r"<!-- (?:made from the lessons: .+?|end) -->\n\n", "", with_tables(text, plan))
    if (wanted := re.findall(PLACEHOLDER.format("(.+)"), text)) != ["the notes to each lesson"]:
        raise ValueError(f"the text must contain exactly one placeholder, for the notes on each lesson; got {wanted}")
    return text.replace(PLACEHOLDER.format("the notes to each lesson"), notes(plan))


def minutes(plan: Sequence[PlannedLesson]) -> str:
    """Return a table with the minutes and points of each lesson."""
    rows = [
        f"| [{u.title}](../notebooks/{u.name}.ipynb) | {u.reading} | {u.exercises} | {u.n_core} + {u.n_stretch} ★ "
        f"| {u.points} + {u.bonus} ★ |"
        for u in plan
    ]
    head = "| lesson | reading, minutes | exercises, minutes | exercises | points |\n|---|--:|--:|--:|--:|"
    return "\n".join([head, *rows])


def courses(plan: Sequence[PlannedLesson]) -> str:
    """Return a table with the totals of three courses."""
    starts = {u.name: place(u.name)[0][:2] for u in plan}
    # Lessons that come after all numbered lessons have no number.
    number = {name: int(start) for name, start in starts.items() if start.isdigit()}
    kinds = {
        "attention alone: lessons 01 to 04": [u for u in plan if 1 <= number.get(u.name, 99) <= 4],
        "the Transformer of 2017: lessons 00 to 08": [u for u in plan if number.get(u.name, 99) <= 8],
        f"everything: lessons 00 to {max(number.values()):02}": plan,
    }
    rows = [
        f"| {name} | {len(us)} | {_hours(sum(u.reading for u in us))} | {_hours(sum(u.exercises for u in us))} "
        f"| {sum(u.n_core for u in us)} + {sum(u.n_stretch for u in us)} ★ "
        f"| {sum(u.points for u in us)} + {sum(u.bonus for u in us)} ★ |"
        for name, us in kinds.items()
    ]
    head = "| course | weeks | reading | exercises | exercises | points |\n|---|--:|--:|--:|--:|--:|"
    return "\n".join([head, *rows])


def notes(plan: Sequence[PlannedLesson]) -> str:
    """Return a section for each lesson: goal, slides, homework, questions for class, and common difficulties."""
    return "\n\n".join(
        f"### Week {week}: {u.title}\n\n"
        f"After this lesson, students can {u.goal}\n\n"
        f"- **Lecture**: [slides](../slides/{u.name}.md)\n"
        f"- **Homework**: {u.n_core} exercises with {u.points} points in total, about {u.exercises} minutes; "
        f"{u.n_stretch} ★ for students who want more\n"
        f"- **Ask in class**:\n{_nested(u.questions)}\n"
        f"- **Where students stumble**:\n{_nested(u.stumbles)}"
        for week, u in enumerate(plan, start=1)
    )


def _nested(items: str) -> str:
    """Indent a Markdown list that is stored on one line. Each item must begin with a capital letter or inline code."""
    return "\n".join(f"  - {item}" for item in re.split(r"(?:^| )- (?=[A-Z`*])", items) if item)


def _part(note: str, heading: str) -> str:
    """Return the part of a note under an italic heading, up to the next heading."""
    found = re.search(rf"\*{heading}\*: (.*?)(?= \*[A-Z][^*]*\*: |$)", note)
    return found[1] if found else "none noted."


def _hours(minutes: int) -> str:
    return f"{minutes / 60:.1f} h"


def main() -> None:
    """Update the tables in the guide."""
    from docs.site.pages import stored_lessons

    GUIDE.write_text(with_tables(GUIDE.read_text("utf-8"), planned_lessons(stored_lessons())), "utf-8")


if __name__ == "__main__":
    main()
