"""Sample lessons, and a learner's folder with copies of them."""

import json
import os
from datetime import UTC, datetime
from pathlib import Path

from transformer_course.home.exercise_list import ListedExercise
from transformer_course.home.learner_progress import Home, read_home
from transformer_course.home.lesson_outline import Outline
from transformer_course.workspace.progress import FILE

PRIMER = Outline("primer", "Primer: shapes", (), (), 0, 30.0, {"a": 20.0, "b": 0.0})
LEFT = {"a": 18.0, "one": 15.0, "check-one": 15.0, "between": 12.0, "two": 10.0, "three": 5.0}
LISTED = (
    ListedExercise("one", "Softmax", "Normalize the scores.", ("SM",), False, 10, "softmax"),
    ListedExercise("three", "Windows", "Hide.", (), True, 20, "windows"),
)
FIRST = Outline("00_first", "A first lesson", ("one", "two"), ("three",), 30, 20.0, LEFT, LISTED)
SECOND = Outline("01_second", "A second lesson", ("four",), (), 10, 25.0, {"four": 5.0})
BANKED = ListedExercise("five", "Dropout", "Drop numbers.", (), True, 12, "dropout")
BANK = Outline("practice_bank", "Practice bank", (), ("five",), 12, 1.0, {"five": 0.0}, (BANKED,))
OUTLINES = [PRIMER, FIRST, SECOND]
HOURS = 3600


class Folder:
    """A learner's folder with copies of the sample lessons. Initially, no cell has been executed."""

    def __init__(self, path: Path) -> None:
        self.path, self.parts = path, path / "parts"
        for outline in OUTLINES:
            self.copy(outline.name)

    def copy(self, name: str, executed: tuple[str, ...] = (), at: float = 0.0) -> None:
        """Write a copy of a lesson with some executed cells, saved at the Unix time ``at``."""
        cells = [{"id": cell, "cell_type": "code", "execution_count": 1} for cell in executed]
        path = self.path / f"{name}.ipynb"
        path.write_text(json.dumps({"cells": [{"id": "title", "cell_type": "markdown"}, *cells]}))
        os.utime(path, (at, at))

    def record(self, exercise: str, at: float) -> None:
        """Record that an exercise passed at the Unix time ``at``."""
        with (self.path / FILE).open("a") as file:
            print(json.dumps({"exercise": exercise, "passed": datetime.fromtimestamp(at, UTC).isoformat()}), file=file)

    def save(self, lesson: str, *exercises: str) -> None:
        """Save exercises as a lesson's parts."""
        self.parts.mkdir(exist_ok=True)
        (self.parts / f"{lesson}.py").write_text("".join(f"# %% {name}\n{name} = 1\n" for name in exercises))

    def home(self) -> Home:
        """Read the learner's progress from the folder."""
        return read_home(OUTLINES, self.path, self.parts)
