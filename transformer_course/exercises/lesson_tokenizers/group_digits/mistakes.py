"""What goes wrong when numbers are cut."""

import re

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_tokenizers.group_digits.answer import STEPS

MISTAKES = [
    Mistake(
        "from_the_left",
        STEPS.but(first=lambda size: lambda number: size),
        does="the groups begin at the left",
        says="{does}. Then the thousands of 1234567 stand in `123`, and those of 12345 in `12`: count from the right.",
        hints=["Which groups should 1234567 have: 123 456 7, or 1 234 567?"],
    ),
    Mistake(
        "an_empty_group",
        STEPS.but(first=lambda size: lambda number: len(number) % size),
        does="a number whose digits come out even begins with an empty group",
        says="{does}. With 6 digits nothing is left over, and the first group is a whole one.",
        hints=["What is `6 % 3`, and what does `number[:0]` give?"],
    ),
    Mistake(
        "only_numbers",
        STEPS.but(pieces=lambda runs, grouped: [p for run in runs if run[0] in "0123456789" for p in grouped(run)]),
        does="what stands between the numbers is left out",
        says="{does}. Put together, the pieces should be the text again.",
        hints=["What is `''.join(pieces)`?"],
    ),
    Mistake(
        "line_breaks_lost",
        STEPS.but(runs=lambda text: re.findall("[0-9]+|[^0-9\n]+", text)),
        does="line breaks are lost",
        says=(
            "{does}. Put together, the pieces should be the text again. In a regular expression, `.` stands for any "
            "character but a line break."
        ),
        hints=["What is `''.join(pieces)` for a text of two lines?"],
    ),
    Mistake(
        "cut_at_line_breaks",
        STEPS.but(runs=lambda text: re.findall("[0-9]+|[^0-9\n]+|\n+", text)),
        STEPS.but(runs=lambda text: re.findall("[0-9]+|[^0-9\n]+|\n", text)),
        STEPS.but(runs=lambda text: [r for line in text.splitlines(True) for r in re.findall("[0-9]+|[^0-9]+", line)]),
        does="what stands between two numbers is cut at line breaks",
        says="{does}. Only numbers are cut: what stands between two of them is one piece, line breaks and all.",
        hints=["How many pieces should `1 + \\n 2` have?"],
    ),
    Mistake(
        "digits_of_other_scripts",
        STEPS.but(
            runs=lambda text: re.findall(r"\d+|\D+", text),
            pieces=lambda runs, grouped: [p for run in runs for p in (grouped(run) if run[0].isdigit() else [run])],
        ),
        does="the digits of other scripts are grouped, too",
        says="{does}. `\\d` and `isdigit` take ٣ for a digit; `[0-9]` does not.",
        hints=["Which characters does `\\d` find in `٣4`?"],
    ),
    Mistake(
        "last_group_first",
        STEPS.but(grouped=lambda grouped: lambda number: grouped(number)[::-1]),
        does="the groups of a number stand in the wrong order, the last one first",
        says="{does}. They are found from the right, but read from the left.",
    ),
]
