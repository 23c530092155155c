"""The exercises. Each lesson has a folder with one module per exercise, or a package if the exercise is large.

``primer`` and ``practice_bank`` contain exercises that no lesson requires. Each module defines, in this order, the
reference, the reference split into steps, the cases, the mistakes and the ``EXERCISE``. Each lesson lists its exercises
by name in ``EXERCISES``. Each module is named after its exercise, in snake case, and is imported on first use. Code
that several lessons share is in ``shared``. Uses ``exercise``, and the library for references.
"""

import re
from collections.abc import Iterator, Mapping
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
"""Names of the lessons with exercises, such as ``04_masks``, in order. Each lesson has a folder in this package."""

NOTEBOOKS = (PRIMER, *LESSONS, PRACTICE_BANK)
"""Names of all notebooks with exercises: the primer, the lessons and the practice bank."""

UNGRADED = (PRIMER, PRACTICE_BANK, "interview_questions", "glossary", "page_to_keep")
"""Notebooks that are distributed with the lessons but not graded."""

_own: dict[str, tuple[Exercise, ...]] = {}
"""Instructors' own lessons and their exercises."""


def every_lesson() -> tuple[str, ...]:
    """List the names of all lessons with exercises. Instructors' own lessons come last."""
    return (*LESSONS, *_own)


def exercise_names(lesson: str) -> tuple[str, ...]:
    """List the exercise names of a lesson, the primer or the practice bank, in order, without importing them."""
    if lesson in _own:
        return tuple(exercise.name for exercise in _own[lesson])
    names: tuple[str, ...] = import_module(_package(lesson)).EXERCISES
    return names


def exercises_of(lesson: str) -> tuple[Exercise, ...]:
    """List the exercises of a lesson, the primer or the practice bank, in order."""
    return _own[lesson] if lesson in _own else tuple(_of_the_course(lesson, name) for name in exercise_names(lesson))


def _package(lesson: str) -> str:
    return f"{__name__}.{lesson if lesson in (PRIMER, PRACTICE_BANK) else f'lesson_{lesson}'}"


@cache
def _of_the_course(lesson: str, name: str) -> Exercise:
    module = re.sub(r"(?<=[A-Za-z])(?=[A-Z][a-z])", "_", name).lower()  # MultiHeadAttention → multi_head_attention
    exercise: Exercise = import_module(f"{_package(lesson)}.{module}").EXERCISE
    return exercise


class _Exercises(Mapping[str, Exercise]):
    """A mapping from names to exercises. The first lookup of a name imports its exercise."""

    def __init__(self) -> None:
        self._lessons = {name: lesson for lesson in (*NOTEBOOKS, *_own) for name in exercise_names(lesson)}

    def __getitem__(self, name: str) -> Exercise:
        lesson = self._lessons[name]
        if lesson in _own:
            return next(exercise for exercise in _own[lesson] if exercise.name == name)
        return _of_the_course(lesson, name)

    def __contains__(self, name: object) -> bool:
        return name in self._lessons

    def __iter__(self) -> Iterator[str]:
        return iter(self._lessons)

    def __len__(self) -> int:
        return len(self._lessons)


@cache
def every_exercise() -> Mapping[str, Exercise]:
    """Return a mapping from names to exercises for all notebooks. An exercise is imported on first
    lookup, because a lesson or a class needs only a few.
    """
    return _Exercises()


def is_own(exercise: Exercise) -> bool:
    """Return whether an instructor wrote the exercise, in which case learners may not see the answer."""
    return any(exercise in exercises for exercises in _own.values())


def add_own_lesson(lesson: str, exercises: tuple[Exercise, ...]) -> None:
    """Register an instructor's lesson in this process, replacing any lesson with the same name."""
    _own[lesson] = exercises
    every_exercise.cache_clear()


def remove_own_lessons(*lessons: str) -> None:
    """Remove the given instructors' lessons, or all instructors' lessons if none are given."""
    for lesson in lessons or tuple(_own):
        _own.pop(lesson, None)
    every_exercise.cache_clear()


def lesson_of(name: str) -> str:
    """Return the name of the notebook that contains an exercise: a lesson, the primer or the practice bank."""
    return next(notebook for notebook in (*NOTEBOOKS, *_own) if name in exercise_names(notebook))
