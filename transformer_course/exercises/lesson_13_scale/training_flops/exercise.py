"""What training costs, before it is begun."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_13_scale.training_flops.answer import STEPS, training_flops
from transformer_course.exercises.lesson_13_scale.training_flops.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


def training_flops_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def size(low, high):
        return int(torch.randint(low, high, (), generator=rng))

    sizes = [
        (size(11, 99), 1, "one token"),
        (1, size(11, 99), "one parameter"),
        (size(200_000, 300_000), size(1_000_000, 2_000_000), "a model of this course"),
        (124_439_808, 1_000_000_000, "GPT-2, and a billion tokens"),
        (size(300 * 10**9, 400 * 10**9), 1, "one token, and a very large model"),
        (1, size(300 * 10**9, 400 * 10**9), "one parameter, and very many tokens"),
    ]
    return [Case({"n_parameters": n, "n_tokens": t}, shows) for n, t, shows in sizes]


TRAINING_FLOPS = Exercise(
    reference=training_flops,
    steps=STEPS,
    cases=training_flops_cases,
    points=1,
    verified="Six operations for each parameter and token: 2 forward, 4 backward.",
    hints=[
        "In a matrix product, what happens to each parameter once for each token? A product, and what else?",
        "The backward pass computes gradients for the inputs and for the parameters: each costs as much as the forward "
        "pass.",
        "So it is 2 + 4 operations for each parameter, and that for each token.",
    ],
    told={
        "brackets_flops": (
            "One of the passes is counted for all tokens, the other for a single one: brackets are missing."
        ),
        "part_left_out_of_a_token: forward": (
            "For each parameter and token there are 2 operations in all: either a product and a sum in the forward "
            "pass, and no backward pass; or a product alone in each pass, as if the two cost the same."
        ),
    },
    mistakes=MISTAKES,
)
