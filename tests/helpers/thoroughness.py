"""How often tests repeat what can be repeated at will: a handful of times, or more often with ``--thorough``."""

from collections.abc import Iterable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Thoroughness:
    """How often this run repeats: the same from day to day.

    Args:
        enabled: Whether to repeat as often as proves something.
        seed: The seed that is always tried; another one than 0 looks at what no run has tried yet.
    """

    enabled: bool = False
    seed: int = 0

    def seeds(self, n: int) -> list[int]:
        """Return the seeds to try where a thorough run tries n: all of them or none, and the one that is always."""
        return [*dict.fromkeys([self.seed, *range(n if self.enabled else 0)])]

    @property
    def examples(self) -> int:
        """Number of examples that each property is tried on."""
        return 500 if self.enabled else 30

    def __str__(self) -> str:
        """Return what this run repeats, in one line."""
        tried = f"seed {self.seed}, {self.examples} examples of each property"
        if self.enabled:
            return f"Thorough: {tried}, up to 10 more seeds, every lesson, and every way of every mistake."
        return f"Not thorough: {tried}, every fourth mistake; `python3 course.py test --thorough` tries the rest."


def one_in(n: int, values: Iterable[object]) -> list[object]:
    """Return values to parametrize a test by: every nth, from the first on, in each run, and the others if thorough."""
    return [_thorough(value) if number % n else value for number, value in enumerate(values)]


def _thorough(value: object) -> object:
    if isinstance(value, type(pytest.param())):  # with a name or marks of its own, or of several arguments
        return value._replace(marks=[*value.marks, pytest.mark.thorough])
    return pytest.param(value, marks=pytest.mark.thorough)
