"""Sort the rows of published matrices as the learner's RoPE expects them."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_11_modern_block.pairs_from_halves.answer import STEPS, pairs_from_halves
from transformer_course.exercises.lesson_11_modern_block.pairs_from_halves.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def pairs_from_halves_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    # The tens count heads, the units count rows, so that one can read where each row belongs.
    readable = torch.tensor([10.0, 11.0, 12.0, 13.0, 20.0, 21.0, 22.0, 23.0])[:, None]
    return [
        Case({"weight": readable, "d_k": 4}, "2 heads of 4 rows"),
        Case({"weight": normal(rng, 6, 2), "d_k": 6}, "one head of 6 rows"),
        Case({"weight": normal(rng, 6, 5), "d_k": 2}, "3 heads of 2 rows"),
        Case({"weight": normal(rng, 16, 3), "d_k": 8}, "2 heads of 8 rows"),
        Case({"weight": normal(rng, 12, 12), "d_k": 6}, "as many rows as columns"),
        Case({"weight": normal(rng, 7 * 20, 30), "d_k": 20}, "7 heads of 20 rows"),
    ]


PAIRS_FROM_HALVES = Exercise(
    reference=pairs_from_halves,
    steps=STEPS,
    cases=pairs_from_halves_cases,
    points=2,
    verified="In each head, rows i and i + d_k/2 of the file now stand beside each other, as rows 2i and 2i + 1.",
    hints=[
        "Write down the new order for one head of 6 rows: 0 goes with 3, 1 with 4, 2 with 5. Then for two such heads.",
        "Give the rows three axes, head, half, and place in the half: `weight.unflatten(0, (-1, 2, d_k // 2))`. In "
        "which order should these be read?",
        "Swap the axes 1 and 2, so that the half changes fastest, and make one axis of three with `.flatten(0, 2)`.",
    ],
    mistakes=MISTAKES,
)
