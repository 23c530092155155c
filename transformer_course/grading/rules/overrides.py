"""Points and comments that an instructor gives by hand: they stand over those of the grader, and survive it."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from transformer_course.exercises import every_exercise, every_lesson, lesson_of
from transformer_course.grading.incoming.tables import read_number, read_table
from transformer_course.lesson_order import resolve_lesson
from transformer_lab.atomic_write import atomic_write_text

OVERRIDES_FILE = "overrides.csv"
"""In the folder of results; the grader makes it, and never writes to it again."""
COLUMN_TITLES = ("student", "lesson", "exercise", "points", "comment", "request")


@dataclass(frozen=True)
class Override:
    """What an instructor has decided about one exercise of a student.

    Args:
        student: Whose it is, as the table has it.
        exercise: The name of the exercise; empty for a comment on all of the student's work.
        points: Points in place of those of the grader; None leaves those.
        comment: What the student is told; may be empty.
        request: What the student asks to be looked at again; may be empty.
    """

    student: str
    exercise: str
    points: float | None = None
    comment: str = ""
    request: str = ""

    @property
    def is_open(self) -> bool:
        """Whether the student has asked, and has no answer yet."""
        return bool(self.request) and self.points is None and not self.comment


def make_overrides_file(out: Path) -> None:
    """Lay an empty table into a folder of results, unless one is there."""
    if not (out / OVERRIDES_FILE).exists():
        atomic_write_text(out / OVERRIDES_FILE, ",".join(COLUMN_TITLES) + "\n")


def read_overrides(out: Path) -> list[Override]:
    """Read the table in a folder of results; of two rows on the same exercise, the later one counts.

    Raises:
        ValueError: A row names no exercise that there is, or points that cannot be given for it.
    """
    path = out / OVERRIDES_FILE
    if not path.exists():
        return []
    found = {}
    for row in read_table(path):
        try:
            override = _override(row)
        except ValueError as error:
            raise ValueError(f"{path}, line {row['line']}: {error}") from None
        found[override.student, override.exercise] = override
    return list(found.values())


def _override(row: Mapping[str, str]) -> Override:
    student, lesson, name, points = (row.get(title, "") for title in COLUMN_TITLES[:4])
    if not student:
        raise ValueError("the row names no student")
    if name and name not in every_exercise():
        raise ValueError(f"there is no exercise {name!r}")
    if name and lesson and resolve_lesson(lesson, every_lesson()) != lesson_of(name):
        raise ValueError(f"{name} is in {lesson_of(name)}; got lesson={lesson!r}")
    if points and not name:
        raise ValueError(f"points need an exercise; got points={points!r}")
    most = every_exercise()[name].points if name else 0
    return Override(student, name, _number(points, most), row.get("comment", ""), row.get("request", ""))


def _number(text: str, most: float) -> float | None:
    if not text:
        return None
    number = read_number(text)
    if number is None or not 0 <= number <= most:
        raise ValueError(f"points must be a number between 0 and {most:g}; got points={text!r}")
    return number
