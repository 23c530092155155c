"""The result of a check."""

from dataclasses import dataclass
from typing import Literal

from transformer_course.checking.message_panel import Panel, verdict_panel

Status = Literal["passed", "not_started", "half_finished", "mistake", "wrong", "crashed"]


@dataclass(frozen=True, repr=False)
class Verdict:
    """The result of checking an attempt.

    Args:
        exercise: Name of the exercise.
        status: Whether the attempt passed, and if not, why.
        message: Plain text. Lines that start with four spaces are code or numbers.
        mistakes: Names of the recognized mistakes, in the order of the steps that they change.
        hints: Hints about this particular attempt. If empty, the hints of the mistake or the exercise apply.
    """

    exercise: str
    status: Status
    message: str
    mistakes: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether the attempt is correct."""
        return self.status == "passed"

    @property
    def mistake(self) -> str | None:
        """Name of the first recognized mistake, or None if no mistake was recognized."""
        return self.mistakes[0] if self.mistakes else None

    @property
    def panel(self) -> Panel:
        """The verdict as a panel."""
        return verdict_panel(self.exercise, self.status, self.message, len(self.mistakes))

    def __repr__(self) -> str:
        return repr(self.panel)

    def _repr_html_(self) -> str:
        return self.panel._repr_html_()
