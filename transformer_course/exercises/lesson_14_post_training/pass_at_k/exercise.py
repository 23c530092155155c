"""pass@k: how probable it is that at least one of k samples is right, estimated from n of them."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_14_post_training.pass_at_k.answer import STEPS, pass_at_k
from transformer_course.exercises.lesson_14_post_training.pass_at_k.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


def pass_at_k_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, c, k, shows):
        return Case({"n": n, "c": c, "k": k}, shows)

    n = int(torch.randint(20, 40, (), generator=rng))
    return [
        case(4, 1, 1, "one draw"),
        case(2, 1, 2, "as many draws as samples"),
        case(5, 2, 2, "2 draws of 5 samples, 2 of which are right"),
        case(6, 0, 3, "no right sample"),
        case(6, 6, 3, "all samples right"),
        case(10, 4, 7, "fewer wrong samples than draws"),
        case(n, 3, 5, f"5 draws of {n} samples"),
        case(200, 7, 10, "10 draws of 200 samples"),
    ]


PASS_AT_K = Exercise(
    reference=pass_at_k,
    steps=STEPS,
    cases=pass_at_k_cases,
    points=2,
    stretch=True,
    verified="No sample is drawn twice, and where fewer are wrong than are drawn, one of them must be right.",
    hints=[
        "Turn the question round: how probable is it that all k samples are wrong?",
        "Of all ways of choosing k of n samples, how many take only wrong ones? There are n − c of those.",
        "`math.comb(n, k)` counts the ways of choosing k of n, and is 0 where k is larger than n.",
    ],
    mistakes=MISTAKES,
)
