"""Which hints belong to a verdict, and how many of them have been given."""

from collections.abc import Sequence
from dataclasses import dataclass

from transformer_course.checking.side_effects import CHANGES_ARGUMENT, GRADIENT_CUT, REMEMBERS_A_CALL
from transformer_course.exercise import Exercise

GRADIENT_HINTS = (
    "Nothing is wrong with the numbers. Call `.sum().backward()` on the output, and look at `.grad` of what went in: "
    "is it None, or smaller than it should be?",
    "A gradient goes back along the steps that torch recorded. `.detach()`, `.data`, `torch.no_grad()`, `.item()`, "
    "`.numpy()`, `.tolist()` and `torch.tensor(…)` make a value that remembers none of them.",
    "Leave each of these out, and compute with the tensors themselves: torch has a function for every step.",
)
IN_PLACE_HINTS = (
    "The caller's tensor is not the same after the call. Which line writes into it?",
    "`x += y`, `x[…] = y` and methods whose names end in `_` change the tensor itself. A plain sum, `masked_fill` or "
    "`torch.where` makes a new one.",
    "Write `x = x + y`, or begin with `x = x.clone()`.",
)
MEMORY_HINTS = (
    "Call it twice, with two tables of the same shape and other numbers. Does the second call see the second table?",
    "A dict outside the function, an attribute, a default argument that is a list, or `functools.cache` keeps what an "
    "earlier call has made.",
    "Compute the result anew in each call, from nothing but the arguments.",
)
_OF_EVERY_EXERCISE = {REMEMBERS_A_CALL: MEMORY_HINTS, GRADIENT_CUT: GRADIENT_HINTS, CHANGES_ARGUMENT: IN_PLACE_HINTS}


GENERAL_HINTS = "The hints that follow are not about this attempt: they are the steps of a right answer, in order."
"""Said before the first of an exercise's own hints, which know nothing of the learner's error."""


@dataclass
class HintsGiven:
    """The hints that a learner has seen.

    Attributes:
        verdict: What the hints are given for: the hints about the attempt, the recognised mistake, or else the status.
        n_given: Number of hints given for it.
    """

    verdict: tuple[str, ...]
    n_given: int = 0


def hints_about(exercise: Exercise, mistake: str | None) -> Sequence[str] | None:
    """Return the hints for a recognised mistake; None where there are only those of the exercise."""
    own = {known.name: known.hints for known in exercise.mistakes}
    return {**_OF_EVERY_EXERCISE, **own}.get(mistake or "")
