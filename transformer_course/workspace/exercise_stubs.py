"""Read the published stubs of exercises, for learners who reset an exercise."""

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from transformer_course.lesson_folder import published_lessons

EXERCISE_TAG = "exercise"


def exercise_stub(exercise: str) -> str:
    """Return the published stub of an exercise.

    Raises:
        OSError: A published lesson cannot be read.
        ValueError: The exercise does not exist.
    """
    stubs = _stubs(published_lessons())
    if exercise not in stubs:
        raise ValueError(f"there is no exercise {exercise!r}")
    return stubs[exercise]


@cache
def _stubs(published: Path) -> Mapping[str, str]:
    """Read the stubs of all published lessons, keyed by exercise name. The name is the id of the stub's cell."""
    stubs = {}
    for path in sorted(published.glob("*.ipynb")):
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if EXERCISE_TAG in cell["metadata"].get("tags", []):
                stubs[cell["id"]] = "".join(cell["source"])
    return stubs
