"""The answer to ``group_digits``, plainly and in steps."""

import re

from transformer_course.steps import InSteps


def group_digits(text: str) -> list[str]:
    """Return the text in pieces: each number in groups of three digits from the right, and what is between them."""
    pieces = []
    for part in re.findall("[0-9]+|[^0-9]+", text):
        first = len(part) % 3 or 3
        groups = [part[:first], *(part[i : i + 3] for i in range(first, len(part), 3))]
        pieces += groups if part[0] in "0123456789" else [part]
    return pieces


def runs(text):
    """cut the text into numbers and what is between them

    the numbers and what is between them
    """
    return re.findall("[0-9]+|[^0-9]+", text)


def size():
    """choose how many digits a group has

    how many digits a group has: 3
    """
    return 3


def first(size):
    """give the first group what is left over, or a whole group if nothing is

    how many digits the first group of a number has
    """
    return lambda number: len(number) % size or size


def grouped(first, size):
    """cut off the first group, and go on in groups

    the groups of a number
    """
    return lambda number: [
        number[: first(number)],
        *(number[i : i + size] for i in range(first(number), len(number), size)),
    ]


def pieces(runs, grouped):
    """put all pieces into one list, what is no number as it is

    the pieces of the text
    """
    return [piece for run in runs for piece in (grouped(run) if run[0] in "0123456789" else [run])]


STEPS = InSteps(runs, size, first, grouped, pieces, reference=group_digits)
