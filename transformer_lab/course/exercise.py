"""The parts of an exercise: a reference, cases that tell right from wrong, and the mistakes that people make."""

import inspect
import textwrap
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from transformer_lab.course.running.case import Case


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
        """The name of the mistake: that of its code."""
        return self.attempt.__name__

    @property
    def spellings(self) -> Sequence[Callable[..., Any]]:
        """All code that makes the mistake."""
        return (self.attempt, *self.also)


@dataclass(frozen=True, eq=False)
class Exercise:
    """A function or module for the learner to write.

    Args:
        reference: A right answer in at most about 15 plain lines; it carries the exercise's name, its dimension
            names in its annotations, and is what ``solution`` shows.
        cases: Function from a seed to the cases, small to large; the last is large enough to be timed.
        mistakes: The mistakes that are recognised.
        hints: The ladder of hints for an attempt that makes none of these mistakes.
        points: Number of points when graded.
        verified: What a pass has shown, and what to look at next.
        stretch: Whether it goes beyond the core of its lesson.
        normalise: Function from an output and its case to the form in which outputs are compared, where several are
            right. It meets every kind of plain data, and must return what it does not understand.
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
        """The name that the learner's function or class must have."""
        return self.reference.__name__

    @property
    def solution(self) -> str:
        """The source of the reference."""
        return textwrap.dedent(inspect.getsource(self.reference))
