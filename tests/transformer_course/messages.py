"""Mistakes with the same hints, for tests."""

from transformer_course.exercise import Mistake

HINTS = ["Look at the shapes.", "Look at the order of the steps.", "Compare it with the formula."]


def mistake(attempt, message, more_variants=()):
    return Mistake(attempt.__name__, attempt, *more_variants, message=message, hints=HINTS)
