"""An instructor's own exercises, from a private Python file that defines ``EXERCISES``.

The file is executed only on the trusted side, in the grader and in the workers. Only the cases of an exercise enter the
sandbox; its reference, mistakes and texts never do, not even for answers to other exercises.
"""

import hashlib
import keyword
import linecache
import sys
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from transformer_course.checking.expected_behavior import behavior
from transformer_course.checking.judge import judge
from transformer_course.exercise import Exercise
from transformer_course.exercises import LESSONS, UNGRADED, add_own_lesson, every_exercise, remove_own_lessons
from transformer_lab.atomic_write import atomic_write_text

OWN_EXERCISES_FOLDER = "own_exercises"
"""Subfolder of the results folder with copies of the files, so that pages can be regenerated without the originals."""
TRIAL_SEEDS = (0, 1)


@dataclass(frozen=True)
class OwnExercises:
    """A file of exercises, stored as text instead of a path because workers may be on other machines.

    Args:
        lesson: The name of the lesson, which is the file name without its extension.
        source: The text of the file.
    """

    lesson: str
    source: str

    @classmethod
    def read(cls, path: Path) -> "OwnExercises":
        """Read a file, check its exercises, and register them.

        Raises:
            ValueError: The file is not valid Python, raises an error, or contains no exercises that can be graded.
            OSError: The file cannot be read.
        """
        own = cls(path.stem, path.read_text("utf-8"))
        try:
            if path.suffix != ".py" or not own.lesson.isidentifier() or keyword.iskeyword(own.lesson):
                raise ValueError(
                    "the file name becomes the name of a lesson, so it must be a Python identifier, such as week_3.py"
                )
            if own.lesson in (*LESSONS, *UNGRADED):
                raise ValueError(f"{own.lesson} is a lesson of the course; choose another name")
            remove_own_lessons(own.lesson)
            _try(exercises := own._exercises())
        except Exception as error:
            raise ValueError(f"{path}: {_error_message(error, own)}") from error
        add_own_lesson(own.lesson, exercises)
        return own

    @property
    def sha256(self) -> str:
        """The SHA-256 hash of the text."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    def add(self) -> None:
        """Register the exercises in this process, without checking them again."""
        add_own_lesson(self.lesson, self._exercises())

    def keep(self, out: Path) -> None:
        """Save the file in a results folder.

        Raises:
            OSError: The file cannot be written.
        """
        (out / OWN_EXERCISES_FOLDER).mkdir(exist_ok=True)
        atomic_write_text(out / OWN_EXERCISES_FOLDER / f"{self.lesson}.py", self.source)

    @property
    def _filename(self) -> str:
        return f"<{self.lesson}.py>"

    def _exercises(self) -> tuple[Exercise, ...]:
        lines = self.source.splitlines(keepends=True)
        linecache.cache[self._filename] = (len(self.source), None, lines, self._filename)
        module = ModuleType(f"{__name__}.{self.lesson}")
        module.__file__ = self._filename
        sys.modules[module.__name__] = module  # inspect looks up the source of a class here
        exec(compile(self.source, self._filename, "exec"), vars(module))
        exercises: Any = vars(module).get("EXERCISES")
        if not isinstance(exercises, Sequence) or not exercises:
            raise ValueError(f"the file must define EXERCISES, a list of Exercise(...); got {exercises!r}")
        for exercise in exercises:
            if not isinstance(exercise, Exercise):
                raise ValueError(f"EXERCISES must contain only Exercise(...); got {exercise!r}")
        return tuple(exercises)


def read_own_exercises(out: Path, path: Path | None = None) -> list[OwnExercises]:
    """Read and register the exercises in a results folder, and a new file that replaces any file with the same name.

    Raises:
        ValueError: A file contains no exercises that can be graded.
        OSError: A file cannot be read.
    """
    kept = {file.stem: file for file in sorted((out / OWN_EXERCISES_FOLDER).glob("*.py"))}
    return [OwnExercises.read(file) for file in {**kept, **({path.stem: path} if path else {})}.values()]


def _try(exercises: Sequence[Exercise]) -> None:
    """Check that exercises can be graded, so that errors are reported now and not once per student.

    Raises:
        ValueError: An exercise cannot be graded.
    """
    names = Counter(exercise.name for exercise in exercises)
    for exercise in exercises:
        if names[exercise.name] > 1:
            raise ValueError(f"two exercises have the name {exercise.name}")
        if exercise.name in every_exercise():
            raise ValueError(f"{exercise.name} is an exercise of the course; choose another name")
        if not isinstance(exercise.points, int) or exercise.points < 1:
            raise ValueError(f"the points of {exercise.name} must be a whole number above 0; got {exercise.points!r}")
        error: Any = behavior(exercise, TRIAL_SEEDS[0]).expected[0].get("error")
        if error:
            raise ValueError(f"the reference solution to {exercise.name} fails: {error['type']}: {error['message']}")
        for seed in TRIAL_SEEDS:
            verdict = judge(exercise, seed, behavior(exercise, seed).expected)
            if not verdict.passed:
                raise ValueError(f"the reference solution to {exercise.name} does not pass: {verdict.message}")
        first, second = (behavior(exercise, seed).expected for seed in TRIAL_SEEDS)
        if judge(exercise, TRIAL_SEEDS[1], first).passed or judge(exercise, TRIAL_SEEDS[0], second).passed:
            raise ValueError(
                f"the cases of {exercise.name} must depend on the seed, because feedback would reveal cases that are "
                "the same for everyone"
            )


def _error_message(error: Exception, own: OwnExercises) -> str:
    """Return the error message with the line number in the file."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own._filename]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    where = f"line {lines[-1]}: " if lines else ""
    kind = "" if type(error) is ValueError and not lines else f"{type(error).__name__}: "
    return f"{where}{kind}{error.msg if isinstance(error, SyntaxError) else error}"
