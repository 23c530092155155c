"""Points and comments that the instructor enters by hand, which override the grader's results."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from transformer_course.exercises import every_exercise, every_lesson, lesson_of
from transformer_course.grading.incoming.tables import read_number, read_table
from transformer_course.lesson_order import resolve_lesson
from transformer_lab.atomic_write import atomic_write_text

OVERRIDES_FILE = "overrides.csv"
"""The table of overrides in the results folder; the grader creates the table but never overwrites it."""
COLUMN_TITLES = ("student", "lesson", "exercise", "points", "comment", "request")


@dataclass(frozen=True)
class Override:
    """An instructor's decision about a student's exercise.

    Args:
        student: The student's name in the table.
        exercise: The name of the exercise, or empty for a general comment.
        points: Points that replace the grader's points, or None to keep the grader's points.
        comment: A comment for the student, or empty.
        request: The student's request for a regrade, or empty.
    """

    student: str
    exercise: str
    points: float | None = None
    comment: str = ""
    request: str = ""

    @property
    def is_open(self) -> bool:
        """Whether there is a request that has not been answered."""
        return bool(self.request) and self.points is None and not self.comment


def make_overrides_file(out: Path) -> None:
    """Create an empty table of overrides in a results folder, unless the table exists."""
    if not (out / OVERRIDES_FILE).exists():
        atomic_write_text(out / OVERRIDES_FILE, ",".join(COLUMN_TITLES) + "\n")


def read_overrides(out: Path) -> list[Override]:
    """Read the overrides in a results folder. If two rows are for the same student and exercise, the later row counts.

    Raises:
        ValueError: A row has an unknown exercise or invalid points.
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
        raise ValueError("the row has no student")
    if name and name not in every_exercise():
        raise ValueError(f"there is no exercise {name!r}")
    if name and lesson and resolve_lesson(lesson, every_lesson()) != lesson_of(name):
        raise ValueError(f"the exercise {name} belongs to {lesson_of(name)}; got lesson={lesson!r}")
    if points and not name:
        raise ValueError(f"points require an exercise; got points={points!r} and no exercise")
    maximum = every_exercise()[name].points if name else 0
    return Override(student, name, _number(points, maximum), row.get("comment", ""), row.get("request", ""))


def _number(text: str, maximum: float) -> float | None:
    if not text:
        return None
    number = read_number(text)
    if number is None or not 0 <= number <= maximum:
        raise ValueError(f"points must be a number between 0 and {maximum:g}; got points={text!r}")
    return number
