"""Summarize a lesson at its end: passed and open exercises, predictions, and the next lesson."""

from collections.abc import Collection, Mapping
from typing import Any

from transformer_course.checking.message_panel import Panel
from transformer_course.exercises import LESSONS, exercise_names, exercises_of
from transformer_course.lesson.session import Session
from transformer_course.workspace import saved_parts
from transformer_course.workspace.progress import read_progress


def lesson_end(session: Session) -> Panel:
    """Return a summary of the lesson whose exercises the notebook defines."""
    predictions = session.predictions.panel()
    lesson = lesson_of(session.shell.user_ns) if session.shell is not None else None
    if lesson is None:
        return predictions
    passed = passed_in(session)
    lines = [exercises_done(lesson, passed)]
    if session.predictions.made:
        lines.append(f"Your predictions: {predictions.message}")
    lines.append(next_after(lesson))
    is_done = all(exercise.name in passed or exercise.stretch for exercise in exercises_of(lesson))
    return Panel(title_of(lesson), "\n".join(lines), "good" if is_done else "help")


def lesson_of(names: Mapping[str, Any]) -> str | None:
    """Return the lesson with the most exercises defined in a notebook, or None if the notebook defines no exercise."""
    n = {lesson: sum(name in names for name in exercise_names(lesson)) for lesson in LESSONS}
    best = max(n, key=lambda lesson: n[lesson])
    return best if n[best] else None


def passed_in(session: Session) -> set[str]:
    """Return the exercises that have passed in the learner's record or in this session."""
    folder = saved_parts.record_folder(session.shell)
    recorded = set(read_progress(folder).passed) if folder else set()
    return recorded | {name for name in session.exercises if session.parts.whose(name) == "yours"}


def exercises_done(lesson: str, passed: Collection[str]) -> str:
    """Return sentences about the passed and the open exercises of a lesson."""
    core = [exercise.name for exercise in exercises_of(lesson) if not exercise.stretch]
    missing = [name for name in core if name not in passed]
    stretch = [e.name for e in exercises_of(lesson) if e.stretch and e.name not in passed]
    text = f"Exercises: {len(core) - len(missing)} of {len(core)} passed."
    text += f" Open: {_names(missing)}." if missing else ""
    return text + (f" Open for those who want more (★): {_names(stretch)}." if stretch else "")


def next_after(lesson: str) -> str:
    """Return a sentence about the next lesson."""
    index = LESSONS.index(lesson) + 1
    if index == len(LESSONS):
        return "This was the last lesson."
    following = LESSONS[index]
    return f"Next: {title_of(following)[0].lower()}{title_of(following)[1:]}, `{following}.ipynb`."


def title_of(lesson: str) -> str:
    """Return the name of a lesson for a title, such as "Lesson 01" or "Tokenizers"."""
    return f"Lesson {lesson[:2]}" if lesson[0].isdigit() else lesson.capitalize()


def _names(names: Collection[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
