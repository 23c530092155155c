"""How often tests repeat what can be repeated at will: a handful of times, or many times with ``--thorough``."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

FEW = 3
"""So many names of what takes turns run together, where a run was asked for these alone."""


@dataclass(frozen=True)
class Repetition:
    """How often this run repeats.

    Args:
        thorough: Whether to repeat as often as is useful at all.
        seed: The seed that changes from day to day, so that in time many seeds are tried.
    """

    thorough: bool
    seed: int

    def seeds(self, n: int) -> list[int]:
        """Return the seeds to try where there are n: all of them or the first, and the one of the day."""
        fixed = range(n if self.thorough else min(n, 1))
        return [*fixed, *({self.seed} - {*fixed})]

    @property
    def examples(self) -> int:
        """Number of examples that each property is tried on."""
        return 2500 if self.thorough else 100

    def of_today(self, names: Sequence[str]) -> list[str]:
        """Return those to run of several that take long and show nearly the same: that of the day, or all if few."""
        return list(names) if self.thorough or len(names) <= FEW else [names[self.seed % len(names)]]

    def __str__(self) -> str:
        """What this run repeats less often than a thorough one, in one line."""
        if self.thorough:
            return (
                f"Thorough: all seeds and seed {self.seed}, {self.examples} examples of each property, every lesson, "
                "every way of every mistake."
            )
        return (
            f"Not thorough: seeds 0 and {self.seed}, {self.examples} examples of each property, one lesson without "
            "vector instructions, two solved, every mistake in one way (a twelfth of the exercises: in every "
            "way), a few of its pairs; `python3 course.py test --thorough` tries up to 25 seeds, "
            f"{Repetition(True, 0).examples} examples, every lesson, every way and 200 pairs."
        )


def seed_of_the_day() -> int:
    """Return today's date as a number, such as 20261122."""
    return int(f"{datetime.now(UTC):%Y%m%d}")
