"""Which tests stay together on one worker, and which begin: with few workers, what takes longest must not come last."""

import re
import zlib
from dataclasses import dataclass

from xdist.scheduler import LoadFileScheduling

BY_PARAMETER = (
    "tests/notebooks/test_attempts.py", "tests/notebooks/test_portability.py",
    "tests/transformer_course/exercises/test_every_exercise.py",
)  # fmt: skip
"""Files that take minutes, and are divided by the last parameter of their tests: a lesson or an exercise."""
SLOWEST_FILES = (
    "tests/notebooks/test_attempts.py", "tests/end_to_end/", "notebooks/", "tests/notebooks/test_portability.py",
    "tests/repository/test_types.py", "tests/transformer_course/grading/test_grade.py",
)  # fmt: skip
"""What executes whole lessons, and the longest files, in the order to start it; all else comes later."""
MANY_UNITS_FILE = "tests/transformer_course/exercises/test_every_exercise.py"
"""Many units of seconds: at the end, no worker waits long for the other."""


class LessonsFirst(LoadFileScheduling):
    """Gives each worker one unit after the other, in the order in which they were collected."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)


def unit(nodeid: str) -> str:
    """Return the name of what has to run on one worker, as it shares costly fixtures or a kernel: mostly a file."""
    path = nodeid.partition("::")[0]
    parameter = re.search(r"\[([^\]]*)\]$", nodeid)
    return f"{path}[{parameter[1]}]" if path in BY_PARAMETER and parameter else path


@dataclass(frozen=True)
class Shard:
    """A part of a run, which other machines complete: a unit is always in the same one.

    Args:
        number: Which one it is, from 1.
        of: How many there are.

    Raises:
        ValueError: There is none of this number.
    """

    number: int
    of: int

    def __post_init__(self) -> None:
        if not 1 <= self.number <= self.of:
            raise ValueError(f"a shard is one of 1/{self.of} to {self.of}/{self.of}; got {self.number}/{self.of}")

    @classmethod
    def parse(cls, text: str) -> "Shard":
        """Read what stands in the command line, such as ``2/6``."""
        number, _, of = text.partition("/")
        return cls(int(number), int(of))

    def __contains__(self, nodeid: str) -> bool:
        return zlib.crc32(unit(nodeid).encode()) % self.of == self.number - 1


def expected_order(nodeid: str) -> tuple[int, int]:
    """Return a key to sort tests by: executed lessons first, and later, longer ones before earlier ones."""
    others = len(SLOWEST_FILES) + nodeid.startswith(MANY_UNITS_FILE)
    rank = next((rank for rank, begin in enumerate(SLOWEST_FILES) if nodeid.startswith(begin)), others)
    lesson = re.search(r"\b(\d\d)_", nodeid)
    return rank, -int(lesson[1]) if lesson and rank < len(SLOWEST_FILES) else 0
