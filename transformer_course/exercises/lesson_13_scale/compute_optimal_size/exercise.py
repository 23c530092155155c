"""A parabola through losses at one budget, whose bottom says how large a model should be."""

import math

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_13_scale.compute_optimal_size.answer import STEPS, compute_optimal_size
from transformer_course.exercises.lesson_13_scale.compute_optimal_size.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case


def compute_optimal_size_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(sizes, best, shows, *, noise=0.0):
        """Draw the losses of these sizes, near a parabola with its bottom at the best one."""
        x = torch.tensor(sizes, dtype=torch.float64).log() - math.log(best)
        losses = uniform(rng, 2.0, 3.0) + uniform(rng, 0.1, 0.3) * x**2 + noise * normal(rng, len(sizes))
        return Case({"n_parameters": sizes, "losses": losses.tolist()}, shows)

    def sizes(n):
        """Draw sizes from a thousand to a million, in no order."""
        return [int(10 ** (3 + 3 * uniform(rng, i, i + 1) / n)) for i in torch.randperm(n, generator=rng).tolist()]

    return [
        case([100, 1_000, 10_000], 1_500, "3 models on a parabola"),
        case([1_744, 3_768, 6_560, 14_448], 3_000, "4 models near a parabola", noise=0.02),
        case([20_000, 1_000, 300_000, 5_000, 80_000], 30_000, "5 models in no order", noise=0.03),
        case([2_000, 8_000, 30_000, 100_000], 1_200, "4 models, all of them too large", noise=0.01),
        case(sizes(13), 40_000, "13 models", noise=0.05),
    ]


COMPUTE_OPTIMAL_SIZE = Exercise(
    reference=compute_optimal_size,
    steps=STEPS,
    cases=compute_optimal_size_cases,
    points=2,
    stretch=True,
    verified="The bottom of the parabola is found, between the sizes that were trained and beyond them.",
    hints=[
        "Fit a x² + b x + c to the losses, with x = log N: three coefficients, by least squares.",
        "`torch.linalg.lstsq(powers, losses[:, None]).solution` solves it, for a matrix with the columns x², x and 1.",
        "The slope, 2 a x + b, is 0 at the bottom. What is N there, if x is its logarithm?",
    ],
    told={
        "sign_bottom": (
            "The place of the bottom has the wrong sign. The slope of a x² + b x + c is 2a x + b: at which x is it 0?"
        ),
        "part_left_out_bottom: coefficients[0]": (
            "The place of the bottom is twice what it should be: a 2 is missing. The slope of a x² + b x + c is 2a x + "
            "b: at which x is it 0?"
        ),
    },
    mistakes=MISTAKES,
)
