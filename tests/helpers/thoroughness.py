"""Determine how often tests repeat: a few times by default, and more often with ``--thorough``."""

from collections.abc import Iterable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Thoroughness:
    """The number of repetitions in a test run. The default run is deterministic.

    Args:
        enabled: Whether the run is thorough.
        seed: The seed of the run. Use a different seed to test inputs that other runs have not covered.
    """

    enabled: bool = False
    seed: int = 0

    def seeds(self, n: int) -> list[int]:
        """Return the run's seed and, in a thorough run, also the seeds below n."""
        return [*dict.fromkeys([self.seed, *range(n if self.enabled else 0)])]

    @property
    def examples(self) -> int:
        """Number of examples per property."""
        return 500 if self.enabled else 30

    def __str__(self) -> str:
        """Describe the run in one line."""
        summary = f"seed {self.seed}, {self.examples} examples of each property"
        if self.enabled:
            return f"Thorough: {summary}, up to 10 more seeds, every lesson, and every variant of every mistake."
        return f"Not thorough: {summary}, every fourth mistake; `python3 course.py test --thorough` runs all of them."


def one_in(n: int, values: Iterable[object]) -> list[object]:
    """Return parameters for a test. Every nth parameter is in each run, and all others only in a thorough run."""
    return [_thorough(value) if number % n else value for number, value in enumerate(values)]


def _thorough(value: object) -> object:
    if isinstance(value, type(pytest.param())):  # pytest.param with an id, marks or several arguments
        return value._replace(marks=[*value.marks, pytest.mark.thorough])
    return pytest.param(value, marks=pytest.mark.thorough)
