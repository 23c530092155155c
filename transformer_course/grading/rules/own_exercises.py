"""An instructor's own exercises, from a private file of Python that defines ``EXERCISES``.

The file is executed on the trusted side only, in the grader and in the processes that judge. Of an exercise, its cases
enter the sandbox; its answer, its mistakes and its text do not, not even for answers to other exercises.
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
"""Where the files are kept in the folder of results, so that what was graded with them can be shown again."""
TRIAL_SEEDS = (0, 1)


@dataclass(frozen=True)
class OwnExercises:
    """The text of the file: not its path goes to the processes that grade, which may be on other machines.

    Args:
        lesson: The name of their lesson, which is that of the file.
        source: The text.
    """

    lesson: str
    source: str

    @classmethod
    def read(cls, path: Path) -> "OwnExercises":
        """Read a file, and add its exercises, after trying them.

        Raises:
            ValueError: The file is no Python, fails, or holds no exercises that could be graded.
            OSError: It cannot be read.
        """
        own = cls(path.stem, path.read_text("utf-8"))
        try:
            if path.suffix != ".py" or not own.lesson.isidentifier() or keyword.iskeyword(own.lesson):
                raise ValueError("its name becomes that of a lesson, and should be such as week_3.py")
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
        """The hash of the text."""
        return hashlib.sha256(self.source.encode()).hexdigest()

    def add(self) -> None:
        """Make the exercises known to this process; they have been tried before."""
        add_own_lesson(self.lesson, self._exercises())

    def keep(self, out: Path) -> None:
        """Keep the file in a folder of results.

        Raises:
            OSError: It cannot be written.
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
        sys.modules[module.__name__] = module  # where the source of a class is looked for
        exec(compile(self.source, self._filename, "exec"), vars(module))
        exercises: Any = vars(module).get("EXERCISES")
        if not isinstance(exercises, Sequence) or not exercises:
            raise ValueError(f"it should define EXERCISES, a list of Exercise(...); got {exercises!r}")
        for one in exercises:
            if not isinstance(one, Exercise):
                raise ValueError(f"EXERCISES should hold Exercise(...) only; got {one!r}")
        return tuple(exercises)


def read_own_exercises(out: Path, path: Path | None = None) -> list[OwnExercises]:
    """Read the exercises that are kept in a folder of results, and a file in place of the one of that name; add them.

    Raises:
        ValueError: A file holds no exercises that could be graded.
        OSError: A file cannot be read.
    """
    kept = {file.stem: file for file in sorted((out / OWN_EXERCISES_FOLDER).glob("*.py"))}
    return [OwnExercises.read(file) for file in {**kept, **({path.stem: path} if path else {})}.values()]


def _try(exercises: Sequence[Exercise]) -> None:
    """Check that exercises can be graded: what fails in them would otherwise fail once for every student.

    Raises:
        ValueError: One cannot be.
    """
    names = Counter(exercise.name for exercise in exercises)
    for exercise in exercises:
        if names[exercise.name] > 1:
            raise ValueError(f"two exercises are called {exercise.name}")
        if exercise.name in every_exercise():
            raise ValueError(f"{exercise.name} is an exercise of the course; choose another name")
        if not isinstance(exercise.points, int) or exercise.points < 1:
            raise ValueError(f"the points of {exercise.name} must be a whole number above 0; got {exercise.points!r}")
        error: Any = behavior(exercise, TRIAL_SEEDS[0]).expected[0].get("error")
        if error:
            raise ValueError(f"the reference of {exercise.name} fails: {error['type']}: {error['message']}")
        for seed in TRIAL_SEEDS:
            verdict = judge(exercise, seed, behavior(exercise, seed).expected)
            if not verdict.passed:
                raise ValueError(f"the reference of {exercise.name} does not pass: {verdict.message}")
        first, second = (behavior(exercise, seed).expected for seed in TRIAL_SEEDS)
        if judge(exercise, TRIAL_SEEDS[1], first).passed or judge(exercise, TRIAL_SEEDS[0], second).passed:
            raise ValueError(
                f"the cases of {exercise.name} should depend on the seed; feedback would give fixed cases away"
            )


def _error_message(error: Exception, own: OwnExercises) -> str:
    """Return what went wrong, and in which line of the file."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own._filename]
    if isinstance(error, SyntaxError):
        lines = [error.lineno]
    where = f"line {lines[-1]}: " if lines else ""
    kind = "" if type(error) is ValueError and not lines else f"{type(error).__name__}: "
    return f"{where}{kind}{error.msg if isinstance(error, SyntaxError) else error}"
