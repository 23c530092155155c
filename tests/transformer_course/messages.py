"""What is said about mistakes that are made up for a test: the same about all."""

from transformer_course.exercise import Mistake

LADDER = ["Look at the shapes.", "Look at the order of the steps.", "Compare it with the formula."]


def mistake(attempt, message, also=()):
    return Mistake(attempt.__name__, attempt, *also, message=message, hints=LADDER)
