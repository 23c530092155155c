"""Split numbers into groups of digits from the right."""

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
    """split the text into numbers and the text between them

    the numbers and the text between

    the runs of the text
    """
    return re.findall("[0-9]+|[^0-9]+", text)


def size():
    """choose the size of a group → the size of a group: 3 digits"""
    return 3


def first(size):
    """compute the length of the first group → the length of the first group: the remainder, or a whole group"""
    return lambda number: len(number) % size or size


def grouped(first, size):
    """split a number into groups → the groups of a number: the first group, then groups of three"""
    return lambda number: [
        number[: first(number)],
        *(number[i : i + size] for i in range(first(number), len(number), size)),
    ]


def pieces(runs, grouped):
    """collect all pieces in one list → the pieces of the text: groups of digits, and the text between numbers"""
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
        "123456": "six digits: two whole groups",
        "12": "fewer digits than a group",
        "in 2021: 12345 lines": "numbers in a text",
        "minus": "no number",
        "": "an empty text",
        "3.14159, 00001 and 1000000": "a decimal point, and leading zeros",
        "٣٤٥٦ is 3456": "digits of another script, which are not grouped",
        "1\n12345 lines,\n\nand 7\n": "a text of several lines",
        " plus ".join(numbers): "60 numbers",
    }
    return [Case({"text": text}, shows) for text, shows in texts.items()]


MISTAKES = [
    Mistake(
        "an_empty_group",
        STEPS.but(first=lambda size: lambda number: len(number) % size),
        summary="you return an empty first group if the number of digits is a multiple of 3",
        message=(
            "{summary}. For 123456, `6 % 3` is 0, so your first group has no digits. How long should the first group "
            "be?"
        ),
        hints=["Which groups should 123456 have? What is `number[:0]`?"],
    ),
    Mistake(
        "only_numbers",
        STEPS.but(pieces=lambda runs, grouped: [p for run in runs if run[0] in "0123456789" for p in grouped(run)]),
        summary="you leave out the text between the numbers",
        message=(
            "{summary}: `in 2021` becomes `2` and `021`. If you join the pieces, you should get the text back. What do "
            "you do with a piece that isn't a number?"
        ),
        hints=["What is `''.join(pieces)`, and what should it be?"],
    ),
    Mistake(
        "line_breaks_lost",
        STEPS.but(runs=lambda text: re.findall("[0-9]+|[^0-9\n]+", text)),
        summary="you lose line breaks",
        message=(
            "{summary}, so joining the pieces doesn't give the text back. In a regular expression, `.` matches any "
            "character except a line break. Which expression matches every character that isn't a digit?"
        ),
        hints=["What is `''.join(pieces)` for a text of two lines?"],
    ),
    Mistake(
        "cut_at_line_breaks",
        STEPS.but(runs=lambda text: re.findall("[0-9]+|[^0-9\n]+|\n+", text)),
        STEPS.but(runs=lambda text: re.findall("[0-9]+|[^0-9\n]+|\n", text)),
        STEPS.but(runs=lambda text: [r for line in text.splitlines(True) for r in re.findall("[0-9]+|[^0-9]+", line)]),
        summary="you split the text between two numbers at line breaks",
        message=(
            "{summary}. Everything between two numbers is one piece. Which characters should your expression match "
            "there?"
        ),
        hints=["How many pieces should `1 + \\n 2` have?"],
    ),
    Mistake(
        "digits_of_other_scripts",
        STEPS.but(
            runs=lambda text: re.findall(r"\d+|\D+", text),
            pieces=lambda runs, grouped: [p for run in runs for p in (grouped(run) if run[0].isdigit() else [run])],
        ),
        summary="you also group the digits of other scripts, such as ٣",
        message=(
            "{summary}. `\\d`, `isdigit` and `isdecimal` accept these digits, but this exercise groups only 0 to 9. "
            "How can you match only these ten?"
        ),
        hints=["Which characters of ٣4 does `\\d` match?"],
    ),
    Mistake(
        "last_group_first",
        STEPS.but(grouped=lambda grouped: lambda number: grouped(number)[::-1]),
        summary="you return the groups of a number in reverse order",
        message=(
            "{summary}: 1234 becomes 234, 1. You find the groups from the right, but the pieces should be in the order "
            "of the text. Where should you insert each new group?"
        ),
        hints=["For 1234, what do your pieces give if you join them?"],
    ),
    Mistake(
        "end_of_the_text_lost",
        STEPS.but(runs=lambda runs: runs[:-1] if runs and runs[-1][0] not in "0123456789" else runs),
        STEPS.but(runs=lambda runs: runs[:-1] if len(runs) > 1 and runs[-1][0] not in "0123456789" else runs),
        summary="you lose the text after the last number",
        message="{summary}: `2021 was` becomes `2` and `021`. What is left when your loop over the numbers ends?",
        hints=["What is `''.join(pieces)` for `1 and`?"],
    ),
    Mistake(
        "each_character_alone",
        STEPS.but(runs=lambda text: re.findall("[0-9]+|[^0-9]", text)),
        summary="you split the text between the numbers into single characters",
        message="{summary}, but it should stay in one piece. Which symbol in a regular expression means *one or more*?",
        hints=["Which pieces do you return for `in 21`?"],
    ),
    Mistake(
        "only_letters_kept",
        STEPS.but(runs=lambda text: re.findall(r"[0-9]+|[A-Za-z\s]+", text)),
        STEPS.but(runs=lambda text: re.findall(r"[0-9]+|[A-Za-z ]+", text)),
        STEPS.but(runs=lambda text: re.findall(r"[0-9]+|[A-Za-z]+", text)),
        summary="you drop the characters that are neither digits nor letters",
        message=(
            "{summary}, such as the point of 3.14, so joining the pieces doesn't give the text back. Which characters "
            "can be between two numbers?"
        ),
        hints=["What is `''.join(pieces)` for `3.14, 2`?"],
    ),
]


EXERCISE = Exercise(
    reference=group_digits,
    steps=STEPS,
    cases=group_digits_cases,
    points=2,
    verified=(
        "Your groups are counted from the right, so the last group of every number holds its hundreds, tens and ones."
    ),
    hints=[
        "Write 1234567 and 12345 with commas. Which of their groups can be shorter than three digits?",
        "`re.findall('[0-9]+|[^0-9]+', text)` splits a text into numbers and the text between them. In a number, "
        "only the first group can be short: its length is the remainder of a division by 3.",
        "`len(number) % 3 or 3` is that length. After the first group, take three digits at a time: `number[i : i + "
        "3]`.",
    ],
    messages={
        "number_size: 4": Wording(
            "{summary}: 12345 becomes 1, 2345 instead of 12, 345. How many digits does each group have if you write "
            "the number with commas?",
            summary="you make groups of four digits instead of three",
            hints=["If you write 1234567 with commas, how many digits are between two commas?"],
        ),
        "number_size: 2": Wording(
            "{summary}: 12345 becomes 1, 23, 45 instead of 12, 345. How many digits does each group have if you write "
            "the number with commas?",
            summary="you make groups of two digits instead of three",
            hints=["If you write 1234567 with commas, how many digits are between two commas?"],
        ),
        "part_left_out_first": Wording(
            "{summary}: 1234567 becomes 123, 456, 7 instead of 1, 234, 567. Which end do you count from?",
            summary="you start the groups at the left",
            hints=["If you write 1234567 and 12345 with commas, how long is the first group of each?"],
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
