"""A step of Adam whose state is cut up among the workers of data parallelism: ZeRO, stage 1."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_13_scale.zero_step.answer import STEPS, zero_step
from transformer_course.exercises.lesson_13_scale.zero_step.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case

CONSTANTS = ("parameters", "gradients", "means", "mean_squares")
"""An optimizer computes without gradients."""


def zero_step_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, n_workers, step, shows, *, digits=None, size=1.0, unused=()):
        n_shard = -(-n // n_workers)
        parameters, gradients = normal(rng, n), size * (normal(rng, n_workers, n) + normal(rng, n))
        state = torch.zeros(2, n_workers * n_shard)
        if step > 1:
            state[:, :n] = torch.stack([normal(rng, n) / 2, 0.2 + torch.rand(n, generator=rng)])
        if digits is not None:  # to work by hand
            parameters, gradients = parameters.round(decimals=digits), gradients.round(decimals=digits)
        gradients[:, unused] = 0.0
        means, mean_squares = state.view(2, n_workers, n_shard)
        inputs = {"parameters": parameters, "gradients": gradients, "means": means, "mean_squares": mean_squares}
        return Case(inputs | {"step": step, "rate": uniform(rng, 0.2, 0.6)}, shows, constants=CONSTANTS)

    return [
        case(2, 1, 1, "one worker, 2 parameters, the first step", digits=1),
        case(4, 2, 1, "2 workers, 4 parameters, the first step", digits=1),
        case(6, 2, 5, "2 workers, 6 parameters, the fifth step"),
        case(5, 2, 3, "2 workers, 5 parameters: a zero fills up the last shard"),
        case(6, 3, 1, "3 workers, and a parameter whose gradient is 0", unused=[2]),
        case(5, 4, 2, "4 workers, 5 parameters: the last worker has zeros alone"),
        case(6, 2, 1, "2 workers, gradients of 0.0001", size=1e-4),
        case(101, 5, 40, "5 workers, 101 parameters, step 40"),
    ]


ZERO_STEP = Exercise(
    reference=zero_step,
    steps=STEPS,
    cases=zero_step_cases,
    points=4,
    verified="The parameters are those of Adam on one device, and each worker kept its own part of the state alone, "
    "also where the parameters could not be cut into equal parts.",
    hints=[
        "Four parts: average the gradients over the workers; cut the average and the parameters into shards; take "
        "Adam's step on each shard; put the shards of the parameters together.",
        "Worker 0 has the first n_shard numbers, worker 1 the next. `F.pad(x, (0, k))` puts k zeros behind x, and "
        "`.view(n_workers, n_shard)` cuts it up.",
        "Adam is the same on a shard as on the whole: both running means first, then each divided by 1 − βˢᵗᵉᵖ. Use "
        "the corrected means for the step, and return the others.",
        "`x.flatten()[:n]` puts the shards together and drops what was filled up.",
    ],
    mistakes=MISTAKES,
)
