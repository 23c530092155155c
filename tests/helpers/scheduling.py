"""Which tests stay together on one worker, and which begin: with few workers, what takes longest must not come last."""

import re

from xdist.scheduler import LoadFileScheduling

BY_PARAMETER = ("tests/notebooks/test_attempts.py", "tests/transformer_course/exercises/test_every_exercise.py")
"""Files that take minutes, and are divided by the last parameter of their tests: a lesson or an exercise."""
LONGEST = (
    "tests/notebooks/test_attempts.py", "tests/end_to_end/", "notebooks/", "tests/notebooks/test_portability.py",
    "tests/transformer_lab/training/test_trainer.py", "tests/known_mistakes/",
    "tests/transformer_course/exercises/test_steps.py",
)  # fmt: skip
"""What executes whole lessons, and the longest files, in the order to start it; all else comes later."""
LAST = "tests/transformer_course/exercises/test_every_exercise.py"
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


def expected_order(nodeid: str) -> tuple[int, int]:
    """Return a key to sort tests by: executed lessons first, and later, longer ones before earlier ones."""
    others = len(LONGEST) + nodeid.startswith(LAST)
    rank = next((rank for rank, begin in enumerate(LONGEST) if nodeid.startswith(begin)), others)
    lesson = re.search(r"\b(\d\d)_", nodeid)
    return rank, -int(lesson[1]) if lesson and rank < len(LONGEST) else 0
