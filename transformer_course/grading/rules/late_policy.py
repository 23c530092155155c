"""When a notebook was due, how late it was, and what that takes off; the raw points never change."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from transformer_course.exercises import every_lesson
from transformer_course.grading.incoming.submissions import Submission
from transformer_course.grading.incoming.tables import read_table
from transformer_lab.atomic_write import atomic_write_text

EVERY_LESSON = ""
"""Stands for all lessons that have no due date of their own."""
EXTENSIONS_FILE = "extensions.csv"
"""In the folder of results: later due dates for one student; the grader makes it, and never writes to it again."""


@dataclass(frozen=True)
class Lateness:
    """How late a notebook was.

    Args:
        days: Days late, those begun counted whole. None: it is late, and nobody knows by how much.
        message: The same in words, with where it is known from; empty if nothing is to be said.
    """

    days: int | None = 0
    message: str = ""


@dataclass(frozen=True)
class LatePolicy:
    """Due dates, and what being late costs.

    Args:
        due: When each lesson is due; ``EVERY_LESSON`` for those that are not named.
        penalty: Per cent of the points that a day takes off.
        grace: Minutes after the due date in which a notebook is not late.
    """

    due: Mapping[str, datetime] = field(default_factory=dict)
    penalty: float = 0.0
    grace: float = 0.0

    def __post_init__(self) -> None:
        if not 0 <= self.penalty <= 100:
            raise ValueError(f"the penalty for a day must be between 0 and 100 per cent; got {self.penalty:g}")
        if not 0 <= self.grace < math.inf:
            raise ValueError(f"the minutes of grace must be at least 0; got {self.grace:g}")
        if unknown := set(self.due) - {*every_lesson(), EVERY_LESSON}:
            known = ", ".join(every_lesson())
            raise ValueError(f"there is no lesson {min(unknown)!r} that could be due; there are {known}")

    def lateness(self, submission: Submission, extensions: Mapping[str, datetime] | None = None) -> Lateness:
        """Return how late a notebook was.

        Args:
            submission: The notebook.
            extensions: When lessons are due for its student, where that is later.
        """
        due, extended = (_due(dates, submission.lesson) for dates in (self.due, extensions or {}))
        is_extended = extended is not None and (due is None or extended > due)
        due = extended if is_extended else due
        unknown = (
            Lateness(None, "marked as late, by how much is not known") if submission.is_marked_late else Lateness()
        )
        if due is None:
            return unknown
        if not submission.handed_in:
            return unknown if submission.is_marked_late else Lateness(0, "when it was handed in is not known")
        late = datetime.fromisoformat(submission.handed_in) - due
        if late <= timedelta(minutes=self.grace):
            return Lateness() if is_extended else unknown
        days = math.ceil(late / timedelta(days=1))
        return Lateness(days, f"{days} {'day' if days == 1 else 'days'} late ({submission.time_source})")

    def points_after(self, points: float, lateness: Lateness) -> float:
        """Return points less the penalty; where nobody knows how late it was, the penalty is left to the instructor."""
        return round(points * max(0.0, 1 - self.penalty / 100 * (lateness.days or 0)), 2)

    def changed(self, due: Mapping[str, datetime], penalty: float | None, grace: float | None) -> "LatePolicy":
        """Return the policy with what is given; what is not given holds.

        Raises:
            ValueError: There is no due date, so there is nothing that a penalty or grace could be about.
        """
        changed = LatePolicy(
            {**self.due, **due},
            self.penalty if penalty is None else penalty,
            self.grace if grace is None else grace,
        )
        if not changed.due and (penalty is not None or grace is not None):
            raise ValueError("--late-penalty and --grace need due dates, given by --due")
        return changed

    def as_dict(self) -> dict[str, Any]:
        """Return the policy as JSON."""
        return {"due": {k: v.isoformat() for k, v in self.due.items()}, "penalty": self.penalty, "grace": self.grace}

    @classmethod
    def from_dict(cls, report: Mapping[str, Any]) -> "LatePolicy":
        """Return the policy from JSON.

        Raises:
            ValueError, TypeError, AttributeError: It is none.
        """
        due = {lesson: datetime.fromisoformat(text) for lesson, text in report.get("due", {}).items()}
        return cls(due, float(report.get("penalty", 0)), float(report.get("grace", 0)))

    def message(self) -> Iterator[str]:
        """Yield what the policy is, in words."""
        dates = [f"{lesson or 'lessons'} due {in_words(due)}" for lesson, due in sorted(self.due.items())]
        yield from dates
        if self.penalty:
            yield f"{self.penalty:g} % off for each day late"
        if self.grace:
            yield f"{self.grace:g} minutes of grace"


def _due(dates: Mapping[str, datetime], lesson: str) -> datetime | None:
    return dates.get(lesson, dates.get(EVERY_LESSON))


@dataclass(frozen=True)
class Extension:
    """A due date for one student.

    Args:
        student: Whose it is, as the table has it.
        lesson: The lesson; ``EVERY_LESSON`` for all.
        due: When it is due.
    """

    student: str
    lesson: str
    due: datetime


def make_extensions_file(out: Path) -> None:
    """Lay an empty table into a folder of results, unless one is there."""
    if not (out / EXTENSIONS_FILE).exists():
        atomic_write_text(out / EXTENSIONS_FILE, "student,lesson,due\n")


def read_extensions(out: Path) -> list[Extension]:
    """Read the table in a folder of results.

    Raises:
        ValueError: A row names no student, no lesson that there is, or no date.
    """
    path = out / EXTENSIONS_FILE
    found = []
    for row in read_table(path) if path.exists() else []:
        student, lesson, due = (row.get(title, "") for title in ("student", "lesson", "due"))
        try:
            if not student:
                raise ValueError("no student is named")
            if lesson not in {*every_lesson(), EVERY_LESSON}:
                raise ValueError(f"there is no lesson {lesson!r}")
            found.append(Extension(student, lesson, parse_date(due)))
        except ValueError as error:
            raise ValueError(f"{path}, line {row['line']}: {error}") from None
    return found


def parse_due(texts: Sequence[str]) -> dict[str, datetime]:
    """Return the due dates that were typed: ``2026-10-12``, or ``01_lookup=2026-10-12T18:00`` for one lesson.

    A date without a time is the end of that day, a time without a zone is that of this machine.

    Raises:
        ValueError: It is no date.

    >>> due = parse_due(["2026-10-12", "01_lookup=2026-10-19T18:00+02:00"])
    >>> due[""].strftime("%H:%M"), due["01_lookup"].isoformat()
    ('23:59', '2026-10-19T18:00:00+02:00')
    """
    due = {}
    for text in texts:
        lesson, equals, date = text.rpartition("=")
        try:
            due[lesson if equals else EVERY_LESSON] = parse_date(date)
        except ValueError:
            raise ValueError(f"--due takes a date such as 2026-10-12 or 2026-10-12T18:00; got {text!r}") from None
    return due


def parse_date(text: str) -> datetime:
    """Return a date; without a time it is the end of that day, without a zone it is that of this machine.

    Raises:
        ValueError: It is none.
    """
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"a date is such as 2026-10-12 or 2026-10-12T18:00; got {text!r}") from None
    if len(text) <= len("2026-10-12"):
        time = time.replace(hour=23, minute=59, second=59)
    return time if time.tzinfo else time.astimezone()


def in_words(time: datetime) -> str:
    """Return a time on this machine's clock."""
    return f"{time.astimezone():%Y-%m-%d %H:%M}"
