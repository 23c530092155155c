"""When a notebook was due, how late it was, and what that takes off; the raw points never change."""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from transformer_course.exercises import every_lesson
from transformer_course.grading.submissions import Submission

EVERY_LESSON = ""
"""Stands for all lessons that have no due date of their own."""


@dataclass(frozen=True)
class Lateness:
    """How late a notebook was.

    Args:
        days: Days late, those begun counted whole. None: it is late, and nobody knows by how much.
        says: The same in words, with where it is known from; empty if nothing is to be said.
    """

    days: int | None = 0
    says: str = ""


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

    def lateness(self, submission: Submission) -> Lateness:
        """Return how late a notebook was."""
        due = self.due.get(submission.lesson, self.due.get(EVERY_LESSON))
        unknown = (
            Lateness(None, "marked as late, by how much is not known") if submission.is_marked_late else Lateness()
        )
        if due is None:
            return unknown
        if not submission.handed_in:
            return unknown if submission.is_marked_late else Lateness(0, "when it was handed in is not known")
        late = datetime.fromisoformat(submission.handed_in) - due
        if late <= timedelta(minutes=self.grace):
            return unknown
        days = math.ceil(late / timedelta(days=1))
        return Lateness(days, f"{days} {'day' if days == 1 else 'days'} late ({submission.time_source})")

    def points_after(self, points: float, lateness: Lateness) -> float:
        """Return points less the penalty; where nobody knows how late it was, the penalty is left to the instructor."""
        return round(points * max(0.0, 1 - self.penalty / 100 * (lateness.days or 0)), 2)

    def write(self, path: Path) -> None:
        """Keep the policy in a file."""
        told = {"due": {k: v.isoformat() for k, v in self.due.items()}, "penalty": self.penalty, "grace": self.grace}
        path.write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def read_late_policy(path: Path) -> LatePolicy:
    """Read a policy that was kept; one without due dates if there is none.

    Raises:
        ValueError: The file holds something else.
    """
    if not path.exists():
        return LatePolicy()
    try:
        told: dict[str, Any] = json.loads(path.read_text("utf-8"))
        due = {lesson: datetime.fromisoformat(text) for lesson, text in told["due"].items()}
        return LatePolicy(due, float(told["penalty"]), float(told["grace"]))
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"{path} holds no due dates; delete it, and give --due again") from error


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
            time = datetime.fromisoformat(date)
        except ValueError:
            raise ValueError(f"--due takes a date such as 2026-10-12 or 2026-10-12T18:00; got {text!r}") from None
        if len(date) <= len("2026-10-12"):
            time = time.replace(hour=23, minute=59, second=59)
        due[lesson if equals else EVERY_LESSON] = time if time.tzinfo else time.astimezone()
    return due
