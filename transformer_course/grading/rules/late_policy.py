"""Due dates, lateness and late penalties, which are shown separately and never change the points."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from transformer_course.exercises import every_lesson
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.incoming.tables import read_table
from transformer_course.grading.incoming.written_time import find_zone, in_zone, read_time
from transformer_course.lesson_order import resolve_lesson
from transformer_lab.atomic_write import atomic_write_text

EVERY_LESSON = ""
"""The key for all lessons without their own due date."""
END_OF_DAY = time(23, 59, 59)
EXTENSIONS_FILE = "extensions.csv"
"""The table of extensions in the results folder; the grader creates the table but never overwrites it."""


@dataclass(frozen=True)
class Lateness:
    """The lateness of a notebook.

    Args:
        days: Number of days late, in which a started day counts as a full day. None means late by an unknown amount.
        message: A description that includes the source of the time; empty if the notebook was on time.
        is_unknown: Whether the submission time is unknown, in which case the notebook counts as on time.
    """

    days: int | None = 0
    message: str = ""
    is_unknown: bool = False

    @property
    def concerns_student(self) -> bool:
        """Whether to show the message to the student. Only the instructor sees that a time is unknown."""
        return bool(self.message) and not self.is_unknown


@dataclass(frozen=True)
class LatePolicy:
    """Due dates and late penalties.

    Args:
        due: The due date of each lesson; the key ``EVERY_LESSON`` stands for all other lessons.
        penalty: Percentage of the points to deduct per day.
        grace: Grace period after the due date in minutes.
        zone: The time zone in which days are counted. None means the local time zone.
    """

    due: Mapping[str, datetime] = field(default_factory=dict)
    penalty: float = 0.0
    grace: float = 0.0
    zone: ZoneInfo | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.penalty <= 100:
            raise ValueError(f"the penalty per day must be between 0 and 100 percent; got {self.penalty:g}")
        if not 0 <= self.grace < math.inf:
            raise ValueError(f"the grace period must be at least 0 minutes; got {self.grace:g}")
        if unknown := set(self.due) - {*every_lesson(), EVERY_LESSON}:
            raise ValueError(f"there is no lesson {min(unknown)!r}; the lessons are {', '.join(every_lesson())}")

    def lateness(self, submission: Submission, extensions: Mapping[str, datetime] | None = None) -> Lateness:
        """Return the lateness of a notebook.

        Args:
            submission: The notebook.
            extensions: The student's own due dates, keyed by lesson.
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
        """Return the local time in the course's zone, so that days end at the same hour even if a day has 25 hours."""
        return moment.astimezone(self.zone).replace(tzinfo=None)

    def points_after(self, points: float, lateness: Lateness) -> float:
        """Return the points minus the penalty. If the lateness is unknown, nothing is deducted."""
        return round(points * max(0.0, 1 - self.penalty / 100 * (lateness.days or 0)), 2)

    def changed(
        self, due: Mapping[str, datetime], penalty: float | None, grace: float | None, zone: ZoneInfo | None = None
    ) -> "LatePolicy":
        """Return the policy with the given changes; omitted values do not change.

        Raises:
            ValueError: A penalty or grace period is given without a due date.
        """
        changed = LatePolicy(
            {**self.due, **due},
            self.penalty if penalty is None else penalty,
            self.grace if grace is None else grace,
            zone or self.zone,
        )
        if not changed.due and (penalty is not None or grace is not None):
            raise ValueError("--late-penalty and --grace require a due date; add --due")
        return changed

    def as_dict(self) -> dict[str, Any]:
        """Return the policy as JSON data."""
        due = {lesson: moment.isoformat() for lesson, moment in self.due.items()}
        return {
            "due": due,
            "penalty": self.penalty,
            "grace": self.grace,
            **({"timezone": self.zone.key} if self.zone else {}),
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "LatePolicy":
        """Return the policy from JSON data.

        Raises:
            ValueError, TypeError, AttributeError: The data are not a valid policy.
        """
        due = {lesson: datetime.fromisoformat(text) for lesson, text in stored.get("due", {}).items()}
        zone = parse_zone(stored["timezone"]) if stored.get("timezone") else None
        return cls(due, float(stored.get("penalty", 0)), float(stored.get("grace", 0)), zone)

    def describe(self) -> Iterator[str]:
        """Yield phrases that describe the policy."""
        for lesson, due in sorted(self.due.items()):
            yield f"{lesson or 'lessons'} due {in_words(due, self.zone)}"
        if self.zone:
            yield f"times in {self.zone.key}"
        if self.penalty:
            yield f"{self.penalty:g} % off for each day late"
        if self.grace:
            yield f"a grace period of {self.grace:g} minutes"


def _due(dates: Mapping[str, datetime], lesson: str) -> datetime | None:
    return dates.get(lesson, dates.get(EVERY_LESSON))


@dataclass(frozen=True)
class Extension:
    """An individual due date for a student.

    Args:
        student: The student's name in the table.
        lesson: The lesson, or ``EVERY_LESSON``.
        due: The due date.
    """

    student: str
    lesson: str
    due: datetime


def make_extensions_file(out: Path) -> None:
    """Create an empty table of extensions in a results folder, unless the table exists."""
    if not (out / EXTENSIONS_FILE).exists():
        atomic_write_text(out / EXTENSIONS_FILE, "student,lesson,due\n")


def read_extensions(out: Path, zone: ZoneInfo | None = None) -> list[Extension]:
    """Read the table of extensions in a results folder, with dates in the course's time zone.

    Raises:
        ValueError: A row has no student, no valid date, or an unknown lesson.
    """
    path = out / EXTENSIONS_FILE
    found = []
    for row in read_table(path) if path.exists() else []:
        student, lesson, due = (row.get(title, "") for title in ("student", "lesson", "due"))
        try:
            if not student:
                raise ValueError("the row has no student")
            lesson = resolve_lesson(lesson, every_lesson()) if lesson else EVERY_LESSON
            found.append(Extension(student, lesson, parse_date(due, zone)))
        except ValueError as error:
            raise ValueError(f"{path}, line {row['line']}: {error}") from None
    return found


def parse_due(texts: Sequence[str], zone: ZoneInfo | None = None) -> dict[str, datetime]:
    """Parse due dates from the command line, such as ``2026-10-12``, or ``01=2026-10-12T18:00`` for one lesson.

    Args:
        texts: The dates. A date without a time means the end of that day.
        zone: The time zone of dates without a zone. None means the local time zone.

    Raises:
        ValueError: An entry is not a date, or its lesson does not exist.

    >>> due = parse_due(["2026-10-12", "01=2026-10-19T18:00+02:00"])
    >>> due[""].strftime("%H:%M"), due["01_lookup"].isoformat()
    ('23:59', '2026-10-19T18:00:00+02:00')
    """
    due = {}
    for text in texts:
        name, _, date = text.rpartition("=")
        lesson = resolve_lesson(name.strip(), every_lesson()) if name else EVERY_LESSON
        try:
            due[lesson] = parse_date(date, zone)
        except ValueError as error:
            example = "--due takes a date such as 2026-10-12 or 2026-10-12T18:00"
            raise ValueError(f"{example}; got {text!r} ({error})") from None
    return due


def parse_date(text: str, zone: ZoneInfo | None = None) -> datetime:
    """Parse a date. A date without a time means the end of that day, and a date without a zone is in the given zone.

    Raises:
        ValueError: The text is not a date or is ambiguous.
    """
    try:
        written = read_time(text, zone)
    except (ValueError, OverflowError) as error:
        raise ValueError(f"expected a date such as 2026-10-12 or 2026-10-12T18:00; got {text!r}: {error}") from None
    local = datetime.combine(written.day, written.clock or END_OF_DAY)
    return local.replace(tzinfo=written.zone) if written.zone else in_zone(local, zone)


def parse_zone(name: str) -> ZoneInfo:
    """Return the time zone with this name in the tz database, such as ``Europe/Berlin``.

    Raises:
        ValueError: The time zone does not exist.
    """
    zone = find_zone(name)
    if zone is None:
        raise ValueError(f"expected a time zone such as Europe/Berlin or America/New_York; got {name!r}")
    return zone


def in_words(moment: datetime, zone: ZoneInfo | None = None) -> str:
    """Format a time in a zone. None means the local time zone."""
    return f"{moment.astimezone(zone):%Y-%m-%d %H:%M}"
