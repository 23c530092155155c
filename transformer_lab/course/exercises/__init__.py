"""The exercises, one module per lesson: cases, references, mistakes."""

from functools import cache
from importlib import import_module

from transformer_lab.course.exercise import Exercise

LESSONS = {
    "00_bottleneck": "bottleneck",
    "01_lookup": "lookup",
    "02_scaling": "scaling",
    "03_heads": "heads",
    "04_masks": "masks",
    "05_positions": "positions",
    "06_encoder": "encoder",
    "07_decoder": "decoder",
    "08_training": "training",
}
"""From a lesson to the module that holds its exercises."""

UNGRADED = ("primer", "interview_questions")
"""Notebooks that are handed out with the lessons, and have no exercises."""


@cache
def exercises_of(lesson: str) -> tuple[Exercise, ...]:
    """List a lesson's exercises in the order they come in."""
    exercises: tuple[Exercise, ...] = import_module(f"{__name__}.{LESSONS[lesson]}").EXERCISES
    return exercises


@cache
def every_exercise() -> dict[str, Exercise]:
    """Map each exercise's name to it, over all lessons."""
    return {exercise.name: exercise for lesson in LESSONS for exercise in exercises_of(lesson)}


def lesson_of(name: str) -> str:
    """Find the lesson that an exercise belongs to."""
    return next(lesson for lesson in LESSONS for exercise in exercises_of(lesson) if exercise.name == name)
