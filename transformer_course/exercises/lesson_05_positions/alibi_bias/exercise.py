"""Lower each score by the distance of its key."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_05_positions.alibi_bias.answer import STEPS
from transformer_course.exercises.lesson_05_positions.alibi_bias.mistakes import MISTAKES
from transformer_course.exercises.lesson_05_positions.shared.position_mistakes import position_mistakes
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_lab.attention.positions import alibi_bias


def alibi_bias_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    more = int(torch.randint(2, 30, (), generator=rng))
    sizes = [
        (2, 2, 2, "2 heads, 2 queries that are the 2 keys"),
        (2, 2, 4, "2 heads, 2 queries at the end of 4 keys"),
        (2, 1, 4, "2 heads, the newest query and 4 keys"),
        (8, 1, 2, "8 heads, the newest query and 2 keys"),
        (3, 3, 3, "3 heads, 3 queries that are the 3 keys"),
        (5, 31, 31 + more, f"5 heads, 31 queries at the end of {31 + more} keys"),
    ]
    return [Case({"n_heads": h, "n_query": q, "n_key": k}, shows) for h, q, k, shows in sizes]


ALIBI_BIAS = Exercise(
    reference=alibi_bias,
    steps=STEPS,
    cases=alibi_bias_cases,
    points=2,
    verified="Each head has a slope of its own, and a single query stands at the last key.",
    hints=[
        "Find the distances first: a table (n_query, n_key). The keys stand at 0 … n_key − 1. Where do the queries "
        "stand, if the last of them is the last key?",
        "`torch.arange(n_key - n_query, n_key)` are the queries' positions. Make them a column with `[:, None]`, "
        "subtract the keys' positions, and take `.abs()`.",
        "The slopes are `2.0 ** (-8 * h / n_heads)` for h = `torch.arange(1, n_heads + 1)`. Give them two more axes, "
        "`slopes[:, None, None]`, and multiply minus them by the distances.",
    ],
    told={
        "left_out_exponents": (
            "The slopes are 1/2, 1/4, 1/8, … however many heads there are. That is right for 8 heads only."
        ),
    },
    mistakes=[*MISTAKES, *position_mistakes(STEPS)],
)
