"""The exercises: a folder for each lesson, and in it a module for each exercise; a folder only for the largest.

The exercises of the practice bank, which no lesson requires, are in ``practice_bank``.

A module is read from top to bottom: the reference, the same in steps, the cases, the mistakes, and the ``EXERCISE``. A
lesson names its modules in ``EXERCISES``. What several lessons share is in ``shared``. Uses ``exercise``, and the
library for references.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from transformer_course.exercise import Exercise
from transformer_course.lesson_order import PRACTICE_BANK, PRIMER, place

LESSONS = tuple(  # not the folder of a lesson that is gone, of which Python has kept its compiled files
    sorted(
        (path.parent.name.removeprefix("lesson_") for path in Path(__file__).parent.glob("lesson_*/__init__.py")),
        key=place,
    )
)
"""The names of the lessons that have exercises, such as ``04_masks``, in their order; each has a folder here."""

NOTEBOOKS = (*LESSONS, PRACTICE_BANK)
"""The names of all notebooks that have exercises: the lessons, and the practice bank."""

UNGRADED = (PRIMER, PRACTICE_BANK, "interview_questions", "glossary", "page_to_keep")
"""Notebooks that are distributed with the lessons but not graded."""

_own: dict[str, tuple[Exercise, ...]] = {}
"""Lessons of an instructor's own, with their exercises."""


def every_lesson() -> tuple[str, ...]:
    """List the names of all lessons that have exercises, the instructor's own last."""
    return (*LESSONS, *_own)


def exercises_of(lesson: str) -> tuple[Exercise, ...]:
    """List the exercises of a lesson or of the practice bank, in their order."""
    return _own[lesson] if lesson in _own else _of_the_course(lesson)


@cache
def _of_the_course(lesson: str) -> tuple[Exercise, ...]:
    package = import_module(f"{__name__}.{lesson if lesson == PRACTICE_BANK else f'lesson_{lesson}'}")
    return tuple(import_module(f"{package.__name__}.{name}").EXERCISE for name in package.EXERCISES)


@cache
def every_exercise() -> Mapping[str, Exercise]:
    """Map names to exercises, over all lessons and the practice bank; cached, since a model asks for its parts at
    every step.
    """
    return {exercise.name: exercise for notebook in (*NOTEBOOKS, *_own) for exercise in exercises_of(notebook)}


def is_own(exercise: Exercise) -> bool:
    """Return whether an exercise is an instructor's own, of which learners may not see the answer."""
    return any(exercise in exercises for exercises in _own.values())


def add_own_lesson(lesson: str, exercises: tuple[Exercise, ...]) -> None:
    """Make an instructor's own lesson known to this process, in place of one of the same name."""
    _own[lesson] = exercises
    every_exercise.cache_clear()


def remove_own_lessons(*lessons: str) -> None:
    """Forget some of an instructor's own lessons; all, where none is named."""
    for lesson in lessons or tuple(_own):
        _own.pop(lesson, None)
    every_exercise.cache_clear()


def lesson_of(name: str) -> str:
    """Find the lesson that an exercise belongs to, or the practice bank."""
    notebooks = (*NOTEBOOKS, *_own)
    return next(notebook for notebook in notebooks for exercise in exercises_of(notebook) if exercise.name == name)
