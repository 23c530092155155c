"""Read the learner's progress from the learner's folder, on each request to the server."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from transformer_course.home.lesson_outline import Outline
from transformer_course.home.own_model import cell_of_map
from transformer_course.lesson_order import PRACTICE_BANK
from transformer_course.workspace.parts_file import read_sections
from transformer_course.workspace.progress import Prediction, read_progress

NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True)
class LessonState:
    """A lesson and the learner's progress in it.

    Attributes:
        outline: The lesson.
        passed: The exercises that have passed, in the order of the lesson.
        saved: The exercises whose parts are saved.
        executed: The ids of the cells that were run in the learner's copy.
        last_worked_on: The last time that an exercise passed or that a copy with executed cells was saved, or
            ``NEVER``.
        has_copy: Whether the learner's copy exists.
        predictions: The predictions made in the lesson.
        map_cell: The id of the cell that shows a map of the learner's own model, or "" if the copy shows no map.
    """

    outline: Outline
    passed: tuple[str, ...] = ()
    saved: tuple[str, ...] = ()
    executed: frozenset[str] = frozenset()
    last_worked_on: datetime = NEVER
    has_copy: bool = True
    predictions: tuple[Prediction, ...] = ()
    map_cell: str = ""

    @property
    def is_started(self) -> bool:
        """Whether the learner has started the lesson."""
        return self.last_worked_on != NEVER

    @property
    def is_finished(self) -> bool:
        """Whether all core exercises have passed or, in a lesson without exercises, the last cell was run."""
        if self.outline.exercises:
            return set(self.outline.core) <= set(self.passed)
        return self.is_started and self._text_minutes_left < 1

    @property
    def open(self) -> tuple[str, ...]:
        """The core exercises that have not passed, in order."""
        return tuple(name for name in self.outline.core if name not in self.passed)

    @property
    def left_at(self) -> str:
        """The cell at which to continue, or "" to start at the top.

        Among the cells before the next open exercise, this is the last cell that was run or that checks an exercise
        that passed. Cells after the open exercise do not count, because the learner may have run all cells without
        reading them.
        """
        cells = [*self.outline.left_after]
        if self.open:
            cells = cells[: cells.index(self.open[0])]
        reached = [cell for cell in cells if cell in self.executed or cell.removeprefix("check-") in self.passed]
        return reached[-1] if reached else ""

    @property
    def minutes_left(self) -> int:
        """Estimated minutes for the text after the last exercise that passed, and for the open exercises."""
        if self.is_finished:
            return 0
        n_open, n = len(self.outline.exercises) - len(self.passed), len(self.outline.exercises)
        return round(self._text_minutes_left + (self.outline.exercise_minutes * n_open / n if n else 0))

    @property
    def _text_minutes_left(self) -> float:
        reached = self.passed or [cell for cell in self.outline.left_after if cell in self.executed]
        if not reached or (self.outline.exercises and not self.passed):
            return self.outline.other_minutes
        return self.outline.left_after[reached[-1]]


@dataclass(frozen=True)
class Home:
    """The content of the home page.

    Attributes:
        lessons: All lessons in order.
        problems: Messages about files that could not be read.
        folder: The learner's folder.
        parts: The folder of the saved parts.
        predictions: The predictions made in all lessons.
        bank: The practice bank. It is not a lesson, so it is not counted and never suggested as the next step.
    """

    lessons: Sequence[LessonState]
    problems: Sequence[str]
    folder: Path
    parts: Path
    predictions: Sequence[Prediction] = ()
    bank: LessonState | None = None

    @property
    def next_lesson(self) -> LessonState | None:
        """The lesson on which the learner worked last or, if that lesson is finished, the next unfinished lesson.

        None if no lesson was started, or if all lessons are finished.
        """
        latest = max(self.lessons, key=lambda lesson: lesson.last_worked_on)
        if not latest.is_started:
            return None
        i = self.lessons.index(latest)
        from_latest = [*self.lessons[i:], *self.lessons[:i]]
        return next((lesson for lesson in from_latest if not lesson.is_finished), None)

    @property
    def lesson_with_map(self) -> LessonState | None:
        """Among the lessons with a map of the learner's own model, the lesson on which the learner worked last."""
        return max((each for each in self.lessons if each.map_cell), key=lambda each: each.last_worked_on, default=None)


class Copy(NamedTuple):
    """The data read from the learner's copy of a lesson."""

    executed: frozenset[str] = frozenset()
    map_cell: str = ""
    problem: str = ""


def read_home(outlines: Sequence[Outline], folder: Path, parts: Path) -> Home:
    """Read the learner's progress. Files that cannot be read are reported in ``problems``.

    Args:
        outlines: The published lessons.
        folder: The learner's folder.
        parts: The folder of the saved parts, which may be missing.
    """
    record = read_progress(folder)
    problems, predictions = list(record.problems), list(record.predictions.values())
    lessons = []
    for outline in outlines:
        path = folder / f"{outline.name}.ipynb"
        try:
            sections = set(read_sections(parts / f"{outline.name}.py")[1])
        except OSError as error:
            sections = set()
            problems.append(f"{parts / outline.name}.py cannot be read: {error.strerror}")
        status = path.stat() if path.is_file() else None
        copy = read_copy(path, status.st_mtime_ns, status.st_size) if status else Copy()
        problems += [copy.problem] if copy.problem else []
        passed = tuple(name for name in outline.exercises if name in record.passed or name in sections)
        times = [record.passed[name] for name in passed if name in record.passed]
        if copy.executed and status:
            times.append(datetime.fromtimestamp(status.st_mtime, UTC))
        saved = tuple(name for name in outline.exercises if name in sections)
        predicted = tuple(p for p in predictions if p.cell.rpartition(":")[0] in outline.left_after)
        last = max(times, default=NEVER)
        has_copy = status is not None
        lessons.append(LessonState(outline, passed, saved, copy.executed, last, has_copy, predicted, copy.map_cell))
    bank = next((each for each in lessons if each.outline.name == PRACTICE_BANK), None)
    lessons = [each for each in lessons if each is not bank]
    return Home(lessons, problems, folder, parts, predictions, bank)


@lru_cache(maxsize=64)
def read_copy(path: Path, changed: int, size: int) -> Copy:
    """Read the cells that were run in a copy. ``changed`` and ``size`` are cache keys for the state of the file."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        return Copy(frozenset(cell["id"] for cell in cells if cell.get("execution_count")), cell_of_map(cells))
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return Copy(problem=f"{path.name} cannot be read as a notebook")
