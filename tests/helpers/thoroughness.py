"""Determine how often each test repeats. The option ``--thorough`` increases the number of repetitions."""

from collections.abc import Iterable
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Thoroughness:
    """How often tests repeat in a run. The default run is deterministic.

    Args:
        enabled: Whether the run is thorough.
        seed: The random seed. Change the seed to test inputs that earlier runs have not covered.
    """

    enabled: bool = False
    seed: int = 0

    def seeds(self, n: int) -> list[int]:
        """Return the run's seed and, in a thorough run, also the seeds 0 to n - 1."""
        return [*dict.fromkeys([self.seed, *range(n if self.enabled else 0)])]

    @property
    def examples(self) -> int:
        """Number of examples that Hypothesis generates for each property."""
        return 500 if self.enabled else 30

    def __str__(self) -> str:
        """Summarize the run in one line."""
        summary = f"seed {self.seed}, {self.examples} examples of each property"
        if self.enabled:
            return f"Thorough: {summary}, up to 10 more seeds, every lesson, and every variant of every mistake."
        return f"Not thorough: {summary}, every fourth mistake; `python3 course.py test --thorough` runs all of them."


def one_in(n: int, values: Iterable[object]) -> list[object]:
    """Mark parameters of a test so that every run tests every nth value, and a thorough run tests all values."""
    return [_thorough(value) if number % n else value for number, value in enumerate(values)]


def _thorough(value: object) -> object:
    if isinstance(value, type(pytest.param())):  # a pytest.param, which may have an id or marks
        return value._replace(marks=[*value.marks, pytest.mark.thorough])
    return pytest.param(value, marks=pytest.mark.thorough)
