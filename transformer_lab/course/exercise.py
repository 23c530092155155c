"""What an exercise is made of: a reference, cases that tell right from wrong, and the mistakes people make."""

import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from transformer_lab.course.call import Case
from transformer_lab.course.panel import Panel

Status = Literal["passed", "not_started", "mistake", "wrong", "crashed"]


@dataclass(frozen=True, eq=False)
class Mistake:
    """A wrong version of an exercise that people really write.

    Args:
        attempt: The code as a learner would write it. An attempt that behaves the same on every case made this mistake.
        says: What it does and where to look; never the answer.
        hints: A ladder of at least three steps, each telling a little more.
        also: Other ways of making it, where they behave differently in detail.
    """

    attempt: Callable[..., Any]
    says: str
    hints: Sequence[str]
    also: Sequence[Callable[..., Any]] = ()

    @property
    def name(self) -> str:
        """What the mistake is called: the name of its code."""
        return self.attempt.__name__

    @property
    def spellings(self) -> Sequence[Callable[..., Any]]:
        """Every way of making it."""
        return (self.attempt, *self.also)


@dataclass(frozen=True, eq=False)
class Exercise:
    """A function or module for the learner to write.

    Args:
        reference: A right answer in at most about 15 plain lines; it carries the exercise's name, its dimension
            names in its annotations, and is what ``solution`` shows.
        cases: From a seed to the cases, small to large; the last is large enough to be timed.
        mistakes: The mistakes that are recognised.
        hints: The ladder for everybody else.
        points: What it is worth when graded.
        verified: What a pass has shown, and what to look at next.
        stretch: Whether it goes beyond the core of its lesson.
        normalise: From an output and its case to the form in which outputs are compared, where several are right. It
            meets every kind of plain data, and must let pass what it does not understand.
    """

    reference: Callable[..., Any]
    cases: Callable[[int], Sequence[Case]]
    mistakes: Sequence[Mistake]
    hints: Sequence[str]
    points: int
    verified: str
    stretch: bool = False
    normalise: Callable[[Any, Case], Any] = lambda output, case: output

    @property
    def name(self) -> str:
        """What the learner's function or class is to be called."""
        return self.reference.__name__

    @property
    def solution(self) -> str:
        """The source of the reference."""
        return textwrap.dedent(inspect.getsource(self.reference))


@dataclass(frozen=True, repr=False)
class Verdict:
    """What is said about an attempt.

    Args:
        exercise: The exercise's name.
        status: How it went.
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
        """How it looks."""
        title, tint = _LOOKS[self.status]
        return Panel(self.exercise + title, self.message, tint)

    def __repr__(self) -> str:
        return repr(self.panel)

    def _repr_html_(self) -> str:
        return self.panel._repr_html_()


_LOOKS = {
    "passed": (": passed", "good"),
    "not_started": ("", "plain"),
    "mistake": (": a known mistake", "bad"),
    "wrong": (": not right yet", "bad"),
    "crashed": (": it crashed", "bad"),
}
