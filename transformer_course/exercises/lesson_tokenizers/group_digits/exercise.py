"""Cut numbers so that a piece always stands for the same places."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_tokenizers.group_digits.answer import STEPS, group_digits
from transformer_course.exercises.lesson_tokenizers.group_digits.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


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


GROUP_DIGITS = Exercise(
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
    mistakes=MISTAKES,
    stretch=True,
)
