"""Choose among the mistakes of attention, and among the names of steps."""

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps


def without(mistakes: list[Mistake], *names: str) -> list[Mistake]:
    """Return these mistakes but for some, which the exercise tells in its own words or which are none there."""
    return [mistake for mistake in mistakes if mistake.name not in names]


def first_of(steps: InSteps, *names: str) -> str:
    """Return the first of these names that is one of the steps."""
    return next(name for name in names if name in steps.steps)
