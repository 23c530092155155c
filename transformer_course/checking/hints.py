"""Select the hints for a verdict, and count the hints that the learner has seen."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from transformer_course.checking.general_mistakes import GENERAL_MISTAKES
from transformer_course.exercise import Exercise

GENERAL_HINTS = "The following hints are not about your code: they list the steps of a correct answer, in order."
"""Shown before the first general hint of an exercise, because general hints are not about the learner's error."""


@dataclass
class HintsGiven:
    """The hints that a learner has seen for one verdict.

    Attributes:
        verdict: A key that identifies the verdict: its own hints, its mistakes or its status.
        n_given: Number of hints shown so far.
        comes_next: "hint" or "solution", whichever the learner can see next; "" after the solution.
    """

    verdict: tuple[str, ...]
    n_given: int = 0
    comes_next: Literal["hint", "solution", ""] = "hint"


def hints_about(exercise: Exercise, mistake: str | None) -> Sequence[str] | None:
    """Return the hints for a recognized mistake, or None if only the exercise's general hints apply."""
    for known in exercise.mistakes:
        if known.name == mistake:
            return known.hints
    return GENERAL_MISTAKES[mistake].hints if mistake in GENERAL_MISTAKES else None
