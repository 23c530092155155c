"""Render the home page as HTML for the panel in JupyterLab.

Each link stores the file to open in ``data-path`` and the cell to show in ``data-cell``. The panel opens the file in
the same JupyterLab window.
"""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from urllib.parse import quote

from markupsafe import Markup

from transformer_course.home.calibration import calibration_plot, summary
from transformer_course.home.learner_progress import Home, LessonState
from transformer_course.templates import render

MAP_FILE = Path(__file__).with_name("lesson_map.svg")
COLLECTED_PAGES = {
    "glossary": "Glossary: every term, with the lesson that introduces it",
    "page_to_keep": "The page to keep: the whole course on one sheet",
    "interview_questions": "Interview questions for all lessons, with answers",
}


def home_page(home: Home, base_url: str, exports: str, practice: str = "") -> str:
    """Return the page as an HTML fragment for the panel.

    Args:
        home: The learner's progress.
        base_url: The base URL of the server, such as ``/``.
        exports: The URLs of the progress exports.
        practice: A description of the practice that is due today, or "" if nothing is due.
    """
    states = {lesson.outline.name: lesson for lesson in home.lessons}
    next_lesson = home.next_lesson
    notebooks = [*home.lessons, *([home.bank] if home.bank else [])]
    map_start, *map_parts = re.split(r'<a class="tl-lesson" data-lesson="(\w+)">', stored_map())
    return render(
        __package__,
        "home.html",
        home=home,
        next=next_lesson,
        map_start=Markup(map_start),
        map_lessons=[(states[name], Markup(rest)) for name, rest in zip(map_parts[::2], map_parts[1::2], strict=True)],
        unsaved=[(lesson, name) for lesson in home.lessons for name in lesson.passed if name not in lesson.saved],
        n_exercises=sum(len(each.outline.exercises) for each in notebooks),
        with_exercises=[each for each in notebooks if each.outline.listed],
        collected_pages=COLLECTED_PAGES,
        exports=exports,
        practice=practice,
        address=lambda path: f"{base_url}lab/tree/{quote(path)}",
        state_of=lambda lesson: "you are here" if lesson is next_lesson else state_of(lesson),
        file_of=file_of,
        name_of=name_of,
        total=total,
        summary=summary,
        calibration_plot=lambda predictions: Markup(calibration_plot(predictions)),
    )


@cache
def stored_map() -> str:
    """Return the lesson map as stored, before the states of the lessons are filled in."""
    return MAP_FILE.read_text(encoding="utf-8")


def state_of(lesson: LessonState) -> str:
    """Return the state of a lesson in a word or two."""
    return "finished" if lesson.is_finished else "started" if lesson.is_started else "to come"


def file_of(lesson: LessonState) -> str:
    """Return the file name of a lesson in the learner's folder."""
    return f"{lesson.outline.name}.ipynb"


def name_of(lesson: LessonState) -> str:
    """Return the number and title of a lesson."""
    outline = lesson.outline
    return f"Lesson {outline.number}, {outline.title}" if outline.number else outline.title


def total(lessons: Sequence[LessonState]) -> str:
    """Return a sentence about the number of exercises that have passed."""
    n = sum(len(lesson.outline.exercises) for lesson in lessons)
    return f"{sum(len(lesson.passed) for lesson in lessons)} of {n} exercises passed."
