"""How often tests repeat: a few times, or more often with ``--thorough``."""

from collections.abc import Iterable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Thoroughness:
    """How often this run repeats; the default run is deterministic.

    Args:
        enabled: Whether to repeat often.
        seed: The seed of every run. Use a different one to test inputs that other runs have not covered.
    """

    enabled: bool = False
    seed: int = 0

    def seeds(self, n: int) -> list[int]:
        """Return the seeds to test: n of them in a thorough run, and otherwise only the default one."""
        return [*dict.fromkeys([self.seed, *range(n if self.enabled else 0)])]

    @property
    def examples(self) -> int:
        """Number of examples per property."""
        return 500 if self.enabled else 30

    def __str__(self) -> str:
        """Return how often this run repeats, in one line."""
        tried = f"seed {self.seed}, {self.examples} examples of each property"
        if self.enabled:
            return f"Thorough: {tried}, up to 10 more seeds, every lesson, and every way of every mistake."
        return f"Not thorough: {tried}, every fourth mistake; `python3 course.py test --thorough` tries the rest."


def one_in(n: int, values: Iterable[object]) -> list[object]:
    """Return parameters for a test: every nth one in each run, and the others only in a thorough run."""
    return [_thorough(value) if number % n else value for number, value in enumerate(values)]


def _thorough(value: object) -> object:
    if isinstance(value, type(pytest.param())):  # with an id, marks, or several arguments
        return value._replace(marks=[*value.marks, pytest.mark.thorough])
    return pytest.param(value, marks=pytest.mark.thorough)
