"""When a notebook was due, how late it was, and what that takes off; the raw points never change."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from transformer_course.exercises import every_lesson
from transformer_course.grading.incoming.submissions import Submission
from transformer_course.grading.incoming.tables import read_table
from transformer_course.grading.incoming.written_time import find_zone, in_zone, read_time
from transformer_course.lesson_order import resolve_lesson
from transformer_lab.atomic_write import atomic_write_text

EVERY_LESSON = ""
"""Stands for all lessons that have no due date of their own."""
END_OF_DAY = time(23, 59, 59)
EXTENSIONS_FILE = "extensions.csv"
"""In the folder of results: later due dates for one student; the grader makes it, and never writes to it again."""


@dataclass(frozen=True)
class Lateness:
    """How late a notebook was.

    Args:
        days: Calendar days late, those begun counted whole; None if it is late by an unknown amount.
        message: The same in words, with the source of the time; empty if it was on time.
        is_unknown: Whether the time of submission is not known, so that it counts as on time.
    """

    days: int | None = 0
    message: str = ""
    is_unknown: bool = False

    @property
    def concerns_student(self) -> bool:
        """Whether the student should read the message; an unknown time is the instructor's business alone."""
        return bool(self.message) and not self.is_unknown


@dataclass(frozen=True)
class LatePolicy:
    """Due dates, and what being late costs.

    Args:
        due: When each lesson is due; ``EVERY_LESSON`` for those that are not named.
        penalty: Per cent of the points that a day takes off.
        grace: Minutes after the due date in which a notebook is not late.
        zone: The time zone of the course, by whose calendar days are counted; None for that of this machine.
    """

    due: Mapping[str, datetime] = field(default_factory=dict)
    penalty: float = 0.0
    grace: float = 0.0
    zone: ZoneInfo | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.penalty <= 100:
            raise ValueError(f"the penalty for a day must be between 0 and 100 per cent; got {self.penalty:g}")
        if not 0 <= self.grace < math.inf:
            raise ValueError(f"the minutes of grace must be at least 0; got {self.grace:g}")
        if unknown := set(self.due) - {*every_lesson(), EVERY_LESSON}:
            raise ValueError(f"there is no lesson {min(unknown)!r}; there are {', '.join(every_lesson())}")

    def lateness(self, submission: Submission, extensions: Mapping[str, datetime] | None = None) -> Lateness:
        """Return how late a notebook was.

        Args:
            submission: The notebook.
            extensions: When lessons are due for its student, where that is later.
        """
        due, extended = (_due(dates, submission.lesson) for dates in (self.due, extensions or {}))
        is_extended = extended is not None and (due is None or extended > due)
        due = extended if is_extended else due
        unknown = Lateness(None, "marked late by an unknown amount") if submission.is_marked_late else Lateness()
        if due is None:
            return unknown
        if not submission.handed_in:
            reason = f": {submission.time_source}" if submission.time_source else ""
            return (
                unknown
                if submission.is_marked_late
                else Lateness(0, f"submission time unknown{reason}", is_unknown=True)
            )
        submitted = datetime.fromisoformat(submission.handed_in)
        if submitted - due <= timedelta(minutes=self.grace):
            return Lateness() if is_extended else unknown
        days = max(1, math.ceil((self._on_clock(submitted) - self._on_clock(due)) / timedelta(days=1)))
        return Lateness(days, f"{days} {'day' if days == 1 else 'days'} late ({submission.time_source})")

    def _on_clock(self, moment: datetime) -> datetime:
        """Return what a clock of the course shows: a day is from one hour to the same hour, also if it has 25 hours."""
        return moment.astimezone(self.zone).replace(tzinfo=None)

    def points_after(self, points: float, lateness: Lateness) -> float:
        """Return points less the penalty; where nobody knows how late it was, the penalty is left to the instructor."""
        return round(points * max(0.0, 1 - self.penalty / 100 * (lateness.days or 0)), 2)

    def changed(
        self, due: Mapping[str, datetime], penalty: float | None, grace: float | None, zone: ZoneInfo | None = None
    ) -> "LatePolicy":
        """Return the policy with what is given; what is not given holds.

        Raises:
            ValueError: There is no due date, so there is nothing that a penalty or grace could be about.
        """
        changed = LatePolicy(
            {**self.due, **due},
            self.penalty if penalty is None else penalty,
            self.grace if grace is None else grace,
            zone or self.zone,
        )
        if not changed.due and (penalty is not None or grace is not None):
            raise ValueError("--late-penalty and --grace need due dates, given by --due")
        return changed

    def as_dict(self) -> dict[str, Any]:
        """Return the policy as JSON."""
        due = {lesson: moment.isoformat() for lesson, moment in self.due.items()}
        return {
            "due": due,
            "penalty": self.penalty,
            "grace": self.grace,
            **({"timezone": self.zone.key} if self.zone else {}),
        }

    @classmethod
    def from_dict(cls, report: Mapping[str, Any]) -> "LatePolicy":
        """Return the policy from JSON.

        Raises:
            ValueError, TypeError, AttributeError: It is none.
        """
        due = {lesson: datetime.fromisoformat(text) for lesson, text in report.get("due", {}).items()}
        zone = parse_zone(report["timezone"]) if report.get("timezone") else None
        return cls(due, float(report.get("penalty", 0)), float(report.get("grace", 0)), zone)

    def message(self) -> Iterator[str]:
        """Yield what the policy is, in words."""
        for lesson, due in sorted(self.due.items()):
            yield f"{lesson or 'lessons'} due {in_words(due, self.zone)}"
        if self.zone:
            yield f"times in {self.zone.key}"
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


def read_extensions(out: Path, zone: ZoneInfo | None = None) -> list[Extension]:
    """Read the table in a folder of results, whose dates are in the time zone of the course.

    Raises:
        ValueError: A row names no student, no lesson that there is, or no date.
    """
    path = out / EXTENSIONS_FILE
    found = []
    for row in read_table(path) if path.exists() else []:
        student, lesson, due = (row.get(title, "") for title in ("student", "lesson", "due"))
        try:
            if not student:
                raise ValueError("the row names no student")
            lesson = resolve_lesson(lesson, every_lesson()) if lesson else EVERY_LESSON
            found.append(Extension(student, lesson, parse_date(due, zone)))
        except ValueError as error:
            raise ValueError(f"{path}, line {row['line']}: {error}") from None
    return found


def parse_due(texts: Sequence[str], zone: ZoneInfo | None = None) -> dict[str, datetime]:
    """Return the due dates that were typed: ``2026-10-12``, or ``01=2026-10-12T18:00`` for one lesson.

    Args:
        texts: The dates. One without a time is the end of that day.
        zone: The time zone of those that name none; None for that of this machine.

    Raises:
        ValueError: A text is not a date, or there is no such lesson.

    >>> due = parse_due(["2026-10-12", "01=2026-10-19T18:00+02:00"])
    >>> due[""].strftime("%H:%M"), due["01_lookup"].isoformat()
    ('23:59', '2026-10-19T18:00:00+02:00')
    """
    due = {}
    for text in texts:
        typed, _, date = text.rpartition("=")
        lesson = resolve_lesson(typed.strip(), every_lesson()) if typed else EVERY_LESSON
        try:
            due[lesson] = parse_date(date, zone)
        except ValueError as error:
            example = "--due takes a date such as 2026-10-12 or 2026-10-12T18:00"
            raise ValueError(f"{example}; got {text!r} ({error})") from None
    return due


def parse_date(text: str, zone: ZoneInfo | None = None) -> datetime:
    """Return a date; without a time it is the end of that day, without a zone it is in the given one.

    Raises:
        ValueError: The text is not a date, or has several meanings.
    """
    try:
        written = read_time(text, zone)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"a date is written like 2026-10-12 or 2026-10-12T18:00; got {text!r}: {error}") from None
    local = datetime.combine(written.day, written.clock or END_OF_DAY)
    return local.replace(tzinfo=written.zone) if written.zone else in_zone(local, zone)


def parse_zone(name: str) -> ZoneInfo:
    """Return a time zone by its name in the tz database, such as ``Europe/Berlin``.

    Raises:
        ValueError: There is none.
    """
    zone = find_zone(name)
    if zone is None:
        raise ValueError(f"a time zone is named like Europe/Berlin or America/New_York; got {name!r}")
    return zone


def in_words(moment: datetime, zone: ZoneInfo | None = None) -> str:
    """Return a time on the clock of a zone; on this machine's if that is None."""
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"
