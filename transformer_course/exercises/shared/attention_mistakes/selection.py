"""Choose among the mistakes of attention: which an exercise takes, which meet others, and what things are called."""

import re

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps


def without(mistakes: list[Mistake], *names: str) -> list[Mistake]:
    """Return these mistakes but for some, which the exercise tells in its own words or which are none there."""
    return [mistake for mistake in mistakes if mistake.name not in names]


def unpaired(mistakes: list[Mistake], *but: str) -> list[Mistake]:
    """Return these mistakes so that they meet no other, but for some."""
    return [m if m.name in but else m.with_ways(*m.attempts) for m in mistakes]


def at_most(n_ways: int, mistakes: list[Mistake]) -> list[Mistake]:
    """Return these mistakes with the first ways of each: for modules, whose cases take long."""
    return [m.with_ways(*m.ways[:n_ways]) for m in mistakes]


def renamed(mistakes: list[Mistake], **names: str) -> list[Mistake]:
    """Return these mistakes with other names in the code that they show: where ``queries`` are called ``q``."""

    def text(told: str) -> str:
        return re.sub(r"`[^`]*`", lambda code: re.sub(r"\w+", lambda name: names.get(name[0], name[0]), code[0]), told)

    return [
        Mistake(m.name, *m.ways, says=text(m.says), hints=[text(hint) for hint in m.hints], does=m.does)
        for m in mistakes
    ]


def first_of(steps: InSteps, *names: str) -> str:
    """Return the first of these names that is one of the steps."""
    return next(name for name in names if name in steps.steps)
