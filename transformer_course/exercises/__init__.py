"""The exercises. Each lesson has a folder with one module per exercise; only the largest exercises have a folder.

``practice_bank`` contains exercises that no lesson requires. Each module defines, in this order, the reference, the
same answer in steps, the cases, the mistakes and the ``EXERCISE``. A lesson lists its modules in ``EXERCISES``. Code
for several lessons is in ``shared``. Uses ``exercise``, and the library for references.
"""

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from pathlib import Path

from transformer_course.exercise import Exercise
from transformer_course.lesson_order import PRACTICE_BANK, PRIMER, place

LESSONS = tuple(  # ignores the folder of a deleted lesson that still contains compiled files
    sorted(
        (path.parent.name.removeprefix("lesson_") for path in Path(__file__).parent.glob("lesson_*/__init__.py")),
        key=place,
    )
)
"""Names of the lessons with exercises, such as ``04_masks``, in order. Each has a folder here."""

NOTEBOOKS = (*LESSONS, PRACTICE_BANK)
"""Names of all notebooks with exercises: the lessons and the practice bank."""

UNGRADED = (PRIMER, PRACTICE_BANK, "interview_questions", "glossary", "page_to_keep")
"""Notebooks that are distributed with the lessons but not graded."""

_own: dict[str, tuple[Exercise, ...]] = {}
"""Lessons written by an instructor, with their exercises."""


def every_lesson() -> tuple[str, ...]:
    """List the names of all lessons with exercises. Instructors' own lessons come last."""
    return (*LESSONS, *_own)


def exercises_of(lesson: str) -> tuple[Exercise, ...]:
    """List the exercises of a lesson or of the practice bank, in order."""
    return _own[lesson] if lesson in _own else _of_the_course(lesson)


@cache
def _of_the_course(lesson: str) -> tuple[Exercise, ...]:
    package = import_module(f"{__name__}.{lesson if lesson == PRACTICE_BANK else f'lesson_{lesson}'}")
    return tuple(import_module(f"{package.__name__}.{name}").EXERCISE for name in package.EXERCISES)


@cache
def every_exercise() -> Mapping[str, Exercise]:
    """Return all exercises of the lessons and the practice bank by name. Cached because a model looks up its parts in
    every step.
    """
    return {exercise.name: exercise for notebook in (*NOTEBOOKS, *_own) for exercise in exercises_of(notebook)}


def is_own(exercise: Exercise) -> bool:
    """Return whether an instructor wrote the exercise, in which case learners may not see the answer."""
    return any(exercise in exercises for exercises in _own.values())


def add_own_lesson(lesson: str, exercises: tuple[Exercise, ...]) -> None:
    """Register an instructor's lesson in this process, replacing any of the same name."""
    _own[lesson] = exercises
    every_exercise.cache_clear()


def remove_own_lessons(*lessons: str) -> None:
    """Remove the given lessons of an instructor, or all of them."""
    for lesson in lessons or tuple(_own):
        _own.pop(lesson, None)
    every_exercise.cache_clear()


def lesson_of(name: str) -> str:
    """Return the lesson of an exercise, or the practice bank."""
    notebooks = (*NOTEBOOKS, *_own)
    return next(notebook for notebook in notebooks for exercise in exercises_of(notebook) if exercise.name == name)
