"""Cut numbers so that a piece always stands for the same places."""

import re

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
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
    """cut the text into numbers and what is between them → the numbers and what is between them"""
    return re.findall("[0-9]+|[^0-9]+", text)


def size():
    """choose how many digits a group has → how many digits a group has: 3"""
    return 3


def first(size):
    """give the first group what is left over, if anything → the number of digits in the first group"""
    return lambda number: len(number) % size or size


def grouped(first, size):
    """cut off the first group, and go on in groups → the groups of a number"""
    return lambda number: [
        number[: first(number)],
        *(number[i : i + size] for i in range(first(number), len(number), size)),
    ]


def pieces(runs, grouped):
    """put all pieces into one list, what is no number as it is → the pieces of the text"""
    return [piece for run in runs for piece in (grouped(run) if run[0] in "0123456789" else [run])]


STEPS = InSteps(runs, size, first, grouped, pieces, reference=group_digits)


def group_digits_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    numbers = [
        "".join(map(str, torch.randint(10, (length,), generator=rng).tolist()))
        for length in torch.randint(1, 12, (60,), generator=rng)
    ]
    texts = {
        "1234": "four digits",
        "123456": "six digits: nothing is left over",
        "12": "fewer digits than a group has",
        "in 2021: 12345 lines": "numbers in a text",
        "minus": "no number",
        "": "an empty text",
        "3.14159, 00001 and 1000000": "a point, and zeros in front",
        "٣٤٥٦ is 3456": "digits of another script, which are none of 0 to 9",
        "1\n12345 lines,\n\nand 7\n": "a text of several lines",
        " plus ".join(numbers): "60 numbers",
    }
    return [Case({"text": text}, shows) for text, shows in texts.items()]


MISTAKES = [
    Mistake(
        "an_empty_group",
        STEPS.but(first=lambda size: lambda number: len(number) % size),
        summary="a number whose digits come out even begins with an empty group",
        message="{summary}. With 6 digits nothing is left over, and the first group is a whole one.",
        hints=["What is `6 % 3`, and what does `number[:0]` give?"],
    ),
    Mistake(
        "only_numbers",
        STEPS.but(pieces=lambda runs, grouped: [p for run in runs if run[0] in "0123456789" for p in grouped(run)]),
        summary="what stands between the numbers is left out",
        message="{summary}. Put together, the pieces should be the text again.",
        hints=["What is `''.join(pieces)`?"],
    ),
    Mistake(
        "line_breaks_lost",
        STEPS.but(runs=lambda text: re.findall("[0-9]+|[^0-9\n]+", text)),
        summary="line breaks are lost",
        message=(
            "{summary}. Put together, the pieces should be the text again. In a regular expression, `.` stands for any "
            "character but a line break."
        ),
        hints=["What is `''.join(pieces)` for a text of two lines?"],
    ),
    Mistake(
        "cut_at_line_breaks",
        STEPS.but(runs=lambda text: re.findall("[0-9]+|[^0-9\n]+|\n+", text)),
        STEPS.but(runs=lambda text: re.findall("[0-9]+|[^0-9\n]+|\n", text)),
        STEPS.but(runs=lambda text: [r for line in text.splitlines(True) for r in re.findall("[0-9]+|[^0-9]+", line)]),
        summary="what stands between two numbers is cut at line breaks",
        message="{summary}. Only numbers are cut: what stands between two of them is one piece, line breaks and all.",
        hints=["How many pieces should `1 + \\n 2` have?"],
    ),
    Mistake(
        "digits_of_other_scripts",
        STEPS.but(
            runs=lambda text: re.findall(r"\d+|\D+", text),
            pieces=lambda runs, grouped: [p for run in runs for p in (grouped(run) if run[0].isdigit() else [run])],
        ),
        summary="the digits of other scripts are grouped, too",
        message="{summary}. `\\d` and `isdigit` take ٣ for a digit; `[0-9]` does not.",
        hints=["Which characters does `\\d` find in `٣4`?"],
    ),
    Mistake(
        "last_group_first",
        STEPS.but(grouped=lambda grouped: lambda number: grouped(number)[::-1]),
        summary="the groups of a number stand in the wrong order, the last one first",
        message="{summary}. They are found from the right, but read from the left.",
    ),
]


EXERCISE = Exercise(
    reference=group_digits,
    steps=STEPS,
    cases=group_digits_cases,
    points=2,
    verified="Counted from the right, a group stands for the same places in every number.",
    hints=[
        "`re.findall('[0-9]+|[^0-9]+', text)` cuts a text into numbers and what is between them.",
        "Counted from the right, only the first group can be short: it gets what is left over by a division by 3.",
        "`len(number) % 3 or 3` is its length. After it, cut every three digits: `number[i : i + 3]`.",
    ],
    messages={
        "part_left_out_first": Wording(
            "{summary}. Then the thousands of 1234567 stand in `123`, and those of 12345 in `12`: count from the "
            "right.",
            summary="the groups begin at the left",
            hints=["Which groups should 1234567 have: 123 456 7, or 1 234 567?"],
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
