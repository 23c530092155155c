"""The result of a check."""

from dataclasses import dataclass
from typing import Literal

from transformer_lab.course.checking.panel import Panel, verdict_panel

Status = Literal["passed", "not_started", "mistake", "wrong", "crashed"]


@dataclass(frozen=True, repr=False)
class Verdict:
    """The result of checking an attempt.

    Args:
        exercise: The exercise's name.
        status: Whether it passed, and if not, why.
        message: Plain text; lines that start with four spaces are code or numbers.
        mistake: The recognised mistake's name, or None.
    """

    exercise: str
    status: Status
    message: str
    mistake: str | None = None

    @property
    def passed(self) -> bool:
        """Whether the attempt is right."""
        return self.status == "passed"

    @property
    def panel(self) -> Panel:
        """The verdict as a panel."""
        return verdict_panel(self.exercise, self.status, self.message)

    def __repr__(self) -> str:
        return repr(self.panel)

    def _repr_html_(self) -> str:
        return self.panel._repr_html_()
