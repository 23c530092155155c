"""Schedule tests: keep tests that share slow fixtures on one worker, and start the slowest tests first."""

import re
import zlib
from dataclasses import dataclass

from xdist.scheduler import LoadFileScheduling

BY_PARAMETER = (
    "tests/notebooks/test_attempts.py", "tests/notebooks/test_portability.py",
    "tests/transformer_course/exercises/test_every_exercise.py",
)  # fmt: skip
"""Files that take minutes. Each lesson or exercise in them, the last parameter of a test, is a separate unit."""
SLOWEST_FILES = (
    "tests/notebooks/test_attempts.py", "tests/end_to_end/", "notebooks/", "tests/notebooks/test_portability.py",
    "tests/repository/test_types.py", "tests/transformer_course/grading/test_grade.py",
)  # fmt: skip
"""Tests that execute whole lessons, and the slowest files. They start first, in this order."""
MANY_UNITS_FILE = "tests/transformer_course/exercises/test_every_exercise.py"
"""A file with many short units, which run last so that all workers finish at about the same time."""


class LessonsFirst(LoadFileScheduling):
    """Assigns units to workers in collection order."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)


def unit(nodeid: str) -> str:
    """Return the name of the unit to which a test belongs, which is usually its file.

    The tests of a unit run on one worker, because they share slow fixtures or a kernel.
    """
    path = nodeid.partition("::")[0]
    parameter = re.search(r"\[([^\]]*)\]$", nodeid)
    return f"{path}[{parameter[1]}]" if path in BY_PARAMETER and parameter else path


@dataclass(frozen=True)
class Shard:
    """One part of a test run that is split across machines. A unit always belongs to the same shard.

    Args:
        number: The number of the shard, counted from 1.
        of: The total number of shards.

    Raises:
        ValueError: The number is not between 1 and the total number of shards.
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise ValueError(f"the shard must be from 1/{self.of} to {self.of}/{self.of}; got {self.number}/{self.of}")

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Parse a command-line argument such as ``2/6``."""
        number, _, of = text.partition("/")
        return cls(int(number), int(of))

    def __contains__(self, nodeid: str) -> bool:
        return zlib.crc32(unit(nodeid).encode()) % self.of == self.number - 1


def expected_order(nodeid: str) -> tuple[int, int]:
    """Return the sort key of a test. Tests of lessons come first.

    Among the lessons, later lessons come before earlier lessons, because later lessons are slower.
    """
    others = len(SLOWEST_FILES) + nodeid.startswith(MANY_UNITS_FILE)
    rank = next((rank for rank, prefix in enumerate(SLOWEST_FILES) if nodeid.startswith(prefix)), others)
    lesson = re.search(r"\b(\d\d)_", nodeid)
    return rank, -int(lesson[1]) if lesson and rank < len(SLOWEST_FILES) else 0
