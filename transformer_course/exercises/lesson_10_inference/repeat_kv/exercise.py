"""Give every query head a key-value head, where several query heads share one."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_10_inference.repeat_kv.answer import STEPS
from transformer_course.exercises.lesson_10_inference.repeat_kv.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_lab.attention.grouped_query import repeat_kv


def repeat_kv_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    # The tens count heads, the units count features, so that one can read where each number belongs.
    readable = torch.tensor([[[[10.0, 11.0, 12.0]], [[20.0, 21.0, 22.0]]]])
    return [
        Case({"x": readable, "n_repeats": 2}, "2 heads, one position, 3 features: each head twice"),
        Case({"x": normal(rng, 2, 1, 3, 4), "n_repeats": 5}, "one head for all 5 query heads"),
        Case({"x": normal(rng, 1, 4, 3, 2), "n_repeats": 1}, "4 heads, each once: multi-head attention"),
        Case({"x": normal(rng, 3, 2, 5, 4), "n_repeats": 3}, "a batch of 3: 2 heads, each 3 times"),
        Case({"x": normal(rng, 3, 3, 3, 3), "n_repeats": 3}, "all lengths 3"),
        Case({"x": normal(rng, 5, 8, 31, 12), "n_repeats": 4}, "a batch of 5: 8 heads, each 4 times"),
    ]


REPEAT_KV = Exercise(
    reference=repeat_kv,
    steps=STEPS,
    cases=repeat_kv_cases,
    points=2,
    verified="Query heads 0 to n_repeats − 1 find key-value head 0, the next ones find head 1, and so on.",
    hints=[
        "With 2 key-value heads A and B and 3 query heads for each, the result holds A A A B B B.",
        "`torch.repeat_interleave` repeats every entry of an axis next to itself, `repeat` and `torch.tile` repeat the "
        "whole axis: A B A B A B.",
        "The heads are axis 1: `x.repeat_interleave(n_repeats, dim=1)`.",
    ],
    mistakes=MISTAKES,
)
