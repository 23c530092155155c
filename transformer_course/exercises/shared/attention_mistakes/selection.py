"""Choose among the names of steps."""

from transformer_course.steps import InSteps


def first_of(steps: InSteps, *names: str) -> str:
    """Return the first of these names that is one of the steps."""
    return next(name for name in names if name in steps.steps)
