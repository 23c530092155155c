"""A parabola through losses at one budget, whose bottom says how large a model should be."""

import math

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def compute_optimal_size(n_parameters: list[int], losses: list[float]) -> float:
    """Return the size at the bottom of the parabola in log N that fits the losses best, by least squares."""
    x = torch.tensor(n_parameters, dtype=torch.float64).log()
    powers = torch.stack([x**2, x, torch.ones_like(x)], dim=1)
    y = torch.tensor(losses, dtype=torch.float64)
    a, b, _ = torch.linalg.lstsq(powers, y[:, None]).solution[:, 0]
    return (-b / (2 * a)).exp().item()


def x(n_parameters):
    """take the logarithms of the sizes → the logarithms of the sizes: x = log N"""
    return torch.tensor(n_parameters, dtype=torch.float64).log()


def powers(x):
    """put the powers of x side by side → what the coefficients are multiplied by: x², x and 1"""
    return torch.stack([x**2, x, torch.ones_like(x)], dim=1)


def y(losses):
    """take the losses → the losses, as a column of numbers"""
    return torch.tensor(losses, dtype=torch.float64)[:, None]


def coefficients(powers, y):
    """fit the parabola by least squares → its coefficients: a, b and c of a x² + b x + c"""
    return torch.linalg.lstsq(powers, y).solution[:, 0]


def bottom(coefficients):
    """find the bottom of the parabola → its place: x = −b / 2a"""
    return -coefficients[1] / (2 * coefficients[0])


def size(bottom):
    """turn the logarithm into a size → the size: the exponential of x"""
    return bottom.exp().item()


STEPS = InSteps(x, powers, y, coefficients, bottom, size, reference=compute_optimal_size)


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


def floats(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def best_of(n_parameters, losses):
    return float(n_parameters[losses.index(min(losses))])


MISTAKES = [
    Mistake(
        "best_of_those_trained",
        STEPS.but(size=best_of),
        STEPS.but(size=lambda n_parameters, losses: n_parameters[losses.index(min(losses))]),
        summary="the size with the lowest loss is returned, and nothing is fitted",
        message="{summary}. The best size lies between those that were trained, and each loss is off by chance.",
        hints=["If you trained sizes 1,000 and 10,000 only, can the best size be 3,000?"],
    ),
    Mistake(
        "no_logarithm",
        STEPS.but(x=lambda n_parameters: floats(n_parameters), size=lambda bottom: bottom.item()),
        STEPS.but(x=lambda n_parameters: floats(n_parameters), size=lambda bottom: bottom.log().item()),
        summary="the parabola is fitted in N, not in log N",
        message="{summary}: then the largest size, far away from all others, decides nearly alone.",
        hints=["How far is 10,000 from 1,000, and how far is it from 100,000? And on a logarithmic axis?"],
    ),
    Mistake(
        "bases_that_do_not_match",
        STEPS.but(x=lambda x: x / math.log(10)),
        STEPS.but(x=lambda x: x / math.log(2)),
        STEPS.but(size=lambda bottom: (10**bottom).item()),
        STEPS.but(size=lambda bottom: (2**bottom).item()),
        summary="the logarithm and the power that undoes it do not have the same base",
        hints=["Which number is `exp` a power of? And which one belongs to `log10`?"],
    ),
    Mistake(
        "loss_at_the_bottom",
        STEPS.but(
            size=lambda coefficients, bottom: (coefficients @ torch.stack([bottom**2, bottom, bottom**0])).item()
        ),
        summary="the loss at the bottom is returned, not the size",
        hints=["Which axis of the plot is asked for?"],
    ),
    Mistake(
        "only_three_sizes",
        STEPS.but(powers=lambda powers: powers[:3], y=lambda y: y[:3]),
        STEPS.but(powers=lambda powers: powers[-3:], y=lambda y: y[-3:]),
        summary="the parabola goes through three of the points, and the others play no part",
        hints=["Does the result change when the last loss does? And when the first one does?"],
    ),
    Mistake(
        "two_points_of_the_axis",
        STEPS.but(size=lambda x: x.mean().exp().item()),
        summary="the middle of the sizes is returned, whatever the losses are",
        hints=["Does the result change when the losses do?"],
    ),
    Mistake(
        "logarithm_of_the_losses",
        STEPS.but(y=lambda losses: floats(losses).log()[:, None]),
        summary="the logarithms of the losses are fitted, not the losses",
        hints=["Which of the two axes is logarithmic, that of the sizes or that of the losses?"],
    ),
]


EXERCISE = Exercise(
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
    messages={
        "index_bottom: coefficients[-1]": Wording(
            "The coefficients are taken in the other order. Look up which of them your fit returns first.",
            summary="the coefficients are taken in the other order: that of x² stands first",
            hints=["Fit a parabola that you know, such as x² − 2x. Which coefficient comes first?"],
        ),
        "sign_bottom": (
            "The place of the bottom has the wrong sign. The slope of a x² + b x + c is 2a x + b: at which x is it 0?"
        ),
        "part_left_out_bottom: coefficients[0]": (
            "The place of the bottom is twice what it should be: a 2 is missing. The slope of a x² + b x + c is 2a x + "
            "b: at which x is it 0?"
        ),
        "sibling_powers: torch.zeros_like(x)": Wording(
            "{summary}. It can then be neither raised nor lowered.",
            summary="the parabola has no constant, so it goes through 0",
            hints=["How many coefficients has a parabola?"],
        ),
    },
    mistakes=MISTAKES,
)
