"""Which hints belong to a verdict, and how many of them have been given."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from transformer_course.checking.general_mistakes import GENERAL_MISTAKES
from transformer_course.exercise import Exercise

GENERAL_HINTS = "The hints that follow are not about your code: they are the steps of a right answer, in order."
"""Said before the first of an exercise's own hints, which know nothing of the learner's error."""


@dataclass
class HintsGiven:
    """The hints that a learner has seen.

    Attributes:
        verdict: What the hints are given for: the hints about the attempt, the recognized mistake, or else the status.
        n_given: Number of hints given for it.
        comes_next: What follows: a hint, a solution after the last one, or nothing after a solution.
    """

    verdict: tuple[str, ...]
    n_given: int = 0
    comes_next: Literal["hint", "solution", ""] = "hint"


def hints_about(exercise: Exercise, mistake: str | None) -> Sequence[str] | None:
    """Return the hints for a recognized mistake; None where there are only those of the exercise."""
    known = next((one for one in exercise.mistakes if one.name == mistake), None) or GENERAL_MISTAKES.get(mistake or "")
    return known.hints if known else None
