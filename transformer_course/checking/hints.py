"""Select the hints for a verdict and count the hints given."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from transformer_course.checking.general_mistakes import GENERAL_MISTAKES
from transformer_course.exercise import Exercise

GENERAL_HINTS = "The hints that follow are not about your code: they are the steps of a right answer, in order."
"""Shown before the first general hint of an exercise, which is not about the learner's error."""


@dataclass
class HintsGiven:
    """The hints that a learner has seen for one verdict.

    Attributes:
        verdict: The subject of the hints: the attempt's own hints, the recognized mistakes, or else the status.
        n_given: Number of hints given so far.
        comes_next: What follows: a hint, the solution after the last hint, or nothing after the solution.
    """

    verdict: tuple[str, ...]
    n_given: int = 0
    comes_next: Literal["hint", "solution", ""] = "hint"


def hints_about(exercise: Exercise, mistake: str | None) -> Sequence[str] | None:
    """Return the hints for a recognized mistake, or None if only the exercise's general hints apply."""
    known = next((one for one in exercise.mistakes if one.name == mistake), None) or GENERAL_MISTAKES.get(mistake or "")
    return known.hints if known else None
