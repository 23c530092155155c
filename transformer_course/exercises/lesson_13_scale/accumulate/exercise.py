"""The loss of a batch that is computed a part at a time."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_13_scale.accumulate.answer import STEPS, accumulate
from transformer_course.exercises.lesson_13_scale.accumulate.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


def accumulate_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_tokens, shows):
        """Draw a mean loss for each micro-batch, and multiply it by its number of tokens."""
        counts = torch.tensor(n_tokens)
        means = 1 + 4 * torch.rand(len(counts), generator=rng)
        return Case({"losses": means * counts, "n_tokens": counts}, shows)

    return [
        case([7], "one micro-batch"),
        case([5, 5], "2 micro-batches of 5 tokens each"),
        case([2, 11], "2 micro-batches of different lengths"),
        case([1, 40, 3], "3 micro-batches, one of which is much longer"),
        case(torch.randint(1, 99, (13,), generator=rng).tolist(), "13 micro-batches, and gradients"),
    ]


ACCUMULATE = Exercise(
    reference=accumulate,
    steps=STEPS,
    cases=accumulate_cases,
    points=1,
    verified="Every token of the batch counts the same, however the batch is cut.",
    hints=[
        "Each micro-batch hands over the *sum* of its losses, and how many tokens that sum is over.",
        "The loss of the batch is a mean over all its tokens. Which sum is divided by which number?",
        "Add up first, divide once at the end.",
    ],
    told={
        "sibling_total: losses.mean()": (
            "The sum is divided by the number of tokens *and* by that of the micro-batches. One division is enough."
        ),
    },
    mistakes=MISTAKES,
)
