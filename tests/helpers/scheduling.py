"""Schedule tests: which ones stay together on one worker, and which start first, because the slowest must not come
last.
"""

import re
import zlib
from dataclasses import dataclass

from xdist.scheduler import LoadFileScheduling

BY_PARAMETER = (
    "tests/notebooks/test_attempts.py", "tests/notebooks/test_portability.py",
    "tests/transformer_course/exercises/test_every_exercise.py",
)  # fmt: skip
"""Files that take minutes and are divided by the last parameter of their tests, a lesson or an exercise."""
SLOWEST_FILES = (
    "tests/notebooks/test_attempts.py", "tests/end_to_end/", "notebooks/", "tests/notebooks/test_portability.py",
    "tests/repository/test_types.py", "tests/transformer_course/grading/test_grade.py",
)  # fmt: skip
"""Tests that execute whole lessons, and the slowest files, in the order in which they start; all others come later."""
MANY_UNITS_FILE = "tests/transformer_course/exercises/test_every_exercise.py"
"""A file with many units that take seconds; it comes at the end, so that no worker waits long for another."""


class LessonsFirst(LoadFileScheduling):
    """Assigns units to workers in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)


def unit(nodeid: str) -> str:
    """Return the name of a test's unit, which runs on one worker because it shares slow fixtures or a kernel: usually a
    file.
    """
    path = nodeid.partition("::")[0]
    parameter = re.search(r"\[([^\]]*)\]$", nodeid)
    return f"{path}[{parameter[1]}]" if path in BY_PARAMETER and parameter else path


@dataclass(frozen=True)
class Shard:
    """A part of a run that several machines share. A unit is always in the same shard.

    Args:
        number: The number of the shard, counted from 1.
        of: The number of shards.

    Raises:
        ValueError: There is no shard of this number.
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
    """Return the sort key of a test: executed lessons first, and later, slower lessons before earlier ones."""
    others = len(SLOWEST_FILES) + nodeid.startswith(MANY_UNITS_FILE)
    rank = next((rank for rank, begin in enumerate(SLOWEST_FILES) if nodeid.startswith(begin)), others)
    lesson = re.search(r"\b(\d\d)_", nodeid)
    return rank, -int(lesson[1]) if lesson and rank < len(SLOWEST_FILES) else 0
