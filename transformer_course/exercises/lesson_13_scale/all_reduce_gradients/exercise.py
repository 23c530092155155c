"""What workers that share a batch have to do between the backward pass and the step."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_13_scale.all_reduce_gradients.answer import STEPS, all_reduce_gradients
from transformer_course.exercises.lesson_13_scale.all_reduce_gradients.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def all_reduce_gradients_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_tokens, n, shows, *, digits=None):
        gradients = normal(rng, len(n_tokens), n)
        if digits is not None:  # to work by hand
            gradients = gradients.round(decimals=digits)
        return Case({"gradients": gradients, "n_tokens": torch.tensor(n_tokens)}, shows)

    return [
        case([6], 2, "one worker", digits=1),
        case([4, 4], 2, "2 workers with as many tokens", digits=1),
        case([1, 9], 2, "2 workers with different numbers of tokens", digits=1),
        case([2, 30, 5], 3, "3 workers, 3 numbers each"),
        case([3, 0, 8, 5], 2, "4 workers, one of which has only padding"),
        case(torch.randint(1, 99, (5,), generator=rng).tolist(), 37, "5 workers, 37 numbers each"),
    ]


ALL_REDUCE_GRADIENTS = Exercise(
    reference=all_reduce_gradients,
    steps=STEPS,
    cases=all_reduce_gradients_cases,
    points=2,
    verified="Every worker holds the gradient that one machine would have computed, so all of them take the same step.",
    hints=[
        "Each worker's gradient is that of the mean over *its* tokens. What is the gradient of the sum over them?",
        "The gradient of the mean over all tokens is the sum of these, divided by the number of all tokens.",
        "A column of numbers multiplies each row by its own: `n_tokens[:, None]`.",
        "Every worker gets the same row: `repeat(n_workers, 1)` or `expand`.",
    ],
    told={
        "part_left_out_of_sums: gradients": (
            "The gradients of means are added up as if they were those of sums, and then divided by all tokens."
        ),
        "call_left_out_reduced: mean": (
            "There is one gradient, not one for each worker. *All*-reduce hands the result to all of them."
        ),
        "done_again_reduced: of_sums": (
            "The sum over all workers is divided by the *mean* number of tokens: the more workers, the larger the step."
        ),
    },
    mistakes=MISTAKES,
)
