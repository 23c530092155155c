"""Write the notebook of a practice session: a stub and a check for each exercise, and a cell that asks questions.

The metadata marks the file as a practice notebook, so that the grader ignores it.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from transformer_course.lesson_order import PRACTICE_BANK, PRACTICE_KEY
from transformer_course.practice.material import ExerciseText
from transformer_course.practice.selection import Selection
from transformer_course.workspace.working_copies import LANGUAGE, free_name
from transformer_lab.atomic_write import atomic_write_text

FOLDER = "practice"
"""Subfolder of the learner's folder for practice notebooks."""
HOW_IT_WORKS = """Write each answer from memory, run its cell, and run the check below it. Nothing here
changes your saved parts.

If the first check passes, the exercise comes back after a long interval. If you need several checks, it comes back
sooner, and if you use a hint or the solution, very soon."""


def write_practice(
    selection: Selection, folder: Path, now: datetime, minutes: int | None = None, interview: bool = False
) -> Path:
    """Write the notebook of a session into the learner's folder.

    Args:
        selection: The exercises and questions to practice.
        folder: The learner's folder.
        now: The current time, whose date is used in the file name and the title.
        minutes: Time limit in minutes, or None for no limit.
        interview: Whether the session is a mock interview, with a score at the end.

    Returns:
        The path of the notebook.

    Raises:
        OSError: The notebook could not be written.
    """
    day = now.astimezone().date()
    path = folder / FOLDER / f"{day}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        path = free_name(path)
    title = f"# {'Interview' if interview else 'Practice'}, {day:%B} {day.day}: {selection}"
    book = {
        "cells": list(_cells(selection, title, minutes)),
        "metadata": {
            "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
            "language_info": LANGUAGE,
            PRACTICE_KEY: True,
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    atomic_write_text(path, json.dumps(book, indent=1, ensure_ascii=False))
    return path


def _cells(selection: Selection, title: str, minutes: int | None) -> Iterator[dict[str, Any]]:
    yield _markdown("title", f"{title}\n\n{HOW_IT_WORKS}")
    yield _code("begin", _setup(selection, minutes))
    for exercise in selection.exercises:
        yield _markdown(f"practice-text-{exercise.name}", _statement(exercise))
        yield _code(f"practice-{exercise.name}", exercise.stub)
        yield _code(f"practice-check-{exercise.name}", f"check({exercise.name})")
    if selection.questions:
        yield _markdown("questions", "## Questions\n\nAnswer aloud, then show the answer and rate your own.")
        cards = "".join(f'\n    "{question.card}",' for question in selection.questions)
        yield _code("ask", f"ask({cards}\n)")
    yield _markdown("end", "## How did it go?")
    yield _code("score", "score()")


def _setup(selection: Selection, minutes: int | None) -> str:
    statements = {statement for exercise in selection.exercises for statement in exercise.imports}
    plain = sorted(statement for statement in statements if statement.startswith("import "))
    names = sorted(statements.difference(plain))
    ours = [
        "from transformer_course import parts",
        "from transformer_course.practice.session import ask, begin, check, hint, score, solution",
    ]
    n = len(selection.exercises)
    begin = f"begin({n}{'' if minutes is None else f', minutes={minutes}'})"
    return "\n\n".join(["\n".join(group) for group in (plain, names, ours) if group] + [begin])


def _statement(exercise: ExerciseText) -> str:
    address = f"../{exercise.lesson}.ipynb#cell-id={exercise.name}"
    lines = [f"## `{exercise.name}`", exercise.statement]
    if exercise.context:
        lines.append(
            f"<details><summary>The text before this exercise in the lesson</summary>\n\n{exercise.context}\n</details>"
        )
    source = "In the practice bank" if exercise.lesson == PRACTICE_BANK else "The lesson"
    return "\n\n".join([*lines, f"[{source}]({address})"])


def _markdown(cell_id: str, source: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "id": cell_id[:64], "metadata": {}, "source": source}


def _code(cell_id: str, source: str) -> dict[str, Any]:
    cell = _markdown(cell_id, source)
    return {**cell, "cell_type": "code", "execution_count": None, "outputs": []}
