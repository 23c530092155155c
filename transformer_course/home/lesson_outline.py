"""Read titles, exercises and minutes of the lessons from the published notebooks."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

import nbformat
from nbformat import NotebookNode

from transformer_course.home.exercise_list import STRETCH_MARK, ListedExercise, listed_exercises
from transformer_course.home.reading_time import TOTAL_TIME_LABEL, minutes_to_read, promised_minutes
from transformer_course.lesson_order import PRACTICE_BANK, UNNUMBERED, place
from transformer_course.workspace.exercise_stubs import EXERCISE_TAG


@dataclass(frozen=True)
class Outline:
    """A published lesson.

    Attributes:
        name: The name, such as ``01_lookup``.
        title: The title without the number.
        core: The names of the core exercises, in order.
        stretch: The names of the optional exercises.
        exercise_minutes: Minutes for all exercises, as given in the lesson.
        other_minutes: Minutes for everything else: reading, predictions and experiments.
        left_after: The part of ``other_minutes`` that remains after each cell, keyed by cell id.
        listed: The entries of the lesson in the list of all exercises.
    """

    name: str
    title: str
    core: tuple[str, ...]
    stretch: tuple[str, ...]
    exercise_minutes: int
    other_minutes: float
    left_after: Mapping[str, float]
    listed: tuple[ListedExercise, ...] = ()

    @property
    def number(self) -> str:
        """The number as two digits, or "" for a lesson without a number."""
        return self.name[:2] if self.name[0].isdigit() else ""

    @property
    def exercises(self) -> tuple[str, ...]:
        """All exercises, in order."""
        return tuple(cell for cell in self.left_after if cell in {*self.core, *self.stretch})


def read_outlines(published: Path) -> list[Outline]:
    """Read the outlines of all lessons in order, followed by the practice bank.

    Raises:
        OSError: A notebook cannot be read.
        ValueError: A file is not a notebook.
    """
    names = [path.stem for path in published.glob("[0-9][0-9]_*.ipynb")]
    in_order = sorted([*UNNUMBERED, PRACTICE_BANK, *names], key=place)
    texts = [(published / f"{name}.ipynb").read_text(encoding="utf-8") for name in in_order]
    # `nbformat.reads` would spend half of the time on validation, which published notebooks do not need.
    return [outline_of(name, nbformat.v4.reads(text)) for name, text in zip(in_order, texts, strict=True)]


def outline_of(name: str, book: NotebookNode) -> Outline:
    """Return the outline of a lesson."""
    title = re.search(r"^# (?:\d\d · )?(.+)$", book.cells[0].source, re.MULTILINE)
    core, stretch = list[str](), list[str]()
    heading = ""
    for cell in book.cells:
        if found := cell.cell_type == "markdown" and re.findall(r"^#+ (?!Exercise:)(.+)$", cell.source, re.MULTILINE):
            heading = found[-1]
        if EXERCISE_TAG in cell.metadata.get("tags", []):
            (stretch if heading.startswith(STRETCH_MARK) else core).append(cell.id)
    minutes = [minutes_to_read([cell], {*core, *stretch}) for cell in book.cells]
    exercise_minutes = promised_minutes(book, "Exercises") or 0
    pace = ((promised_minutes(book, TOTAL_TIME_LABEL) or exercise_minutes + sum(minutes)) - exercise_minutes) / sum(
        minutes
    )
    left = [*accumulate((pace * each for each in reversed(minutes)), initial=0.0)][::-1]
    return Outline(
        name,
        title[1].replace(" · ", ": ") if title else name,
        tuple(core),
        tuple(stretch),
        exercise_minutes,
        left[0],
        {cell.id: after for cell, after in zip(book.cells, left[1:], strict=True)},
        tuple(listed_exercises(book.cells, exercise_minutes)),
    )
