"""Fit a parabola to losses at one compute budget and find the best model size."""

import math

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def compute_optimal_size(n_parameters: list[int], losses: list[float]) -> float:
    """Fit a parabola in log N to the losses by least squares, and return the size N at its minimum."""
    x = torch.tensor(n_parameters, dtype=torch.float64).log()
    powers = torch.stack([x**2, x, torch.ones_like(x)], dim=1)
    y = torch.tensor(losses, dtype=torch.float64)
    a, b, _ = torch.linalg.lstsq(powers, y[:, None]).solution[:, 0]
    return (-b / (2 * a)).exp().item()


def x(n_parameters):
    """take the logarithms of the sizes → the logarithms of the sizes: x = log N"""
    return torch.tensor(n_parameters, dtype=torch.float64).log()


def powers(x):
    """stack x², x and 1 as columns → the matrix of powers: columns x², x and 1"""
    return torch.stack([x**2, x, torch.ones_like(x)], dim=1)


def y(losses):
    """use the losses as a column → the losses, as a column of numbers"""
    return torch.tensor(losses, dtype=torch.float64)[:, None]


def coefficients(powers, y):
    """fit the parabola by least squares → the coefficients: a, b and c of a x² + b x + c"""
    return torch.linalg.lstsq(powers, y).solution[:, 0]


def bottom(coefficients):
    """find the minimum of the parabola → the minimum of the parabola: x = −b / 2a"""
    return -coefficients[1] / (2 * coefficients[0])


def size(bottom):
    """convert the logarithm to a size → the size: exp(x)"""
    return bottom.exp().item()


STEPS = InSteps(x, powers, y, coefficients, bottom, size, reference=compute_optimal_size)


def compute_optimal_size_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(sizes, best, shows, *, noise=0.0):
        """Draw losses for these sizes, close to a parabola with its minimum at the best size."""
        x = torch.tensor(sizes, dtype=torch.float64).log() - math.log(best)
        losses = uniform(rng, 2.0, 3.0) + uniform(rng, 0.1, 0.3) * x**2 + noise * normal(rng, len(sizes))
        return Case({"n_parameters": sizes, "losses": losses.tolist()}, shows)

    def sizes(n):
        """Draw sizes from a thousand to a million in random order."""
        return [int(10 ** (3 + 3 * uniform(rng, i, i + 1) / n)) for i in torch.randperm(n, generator=rng).tolist()]

    return [
        case([100, 1_000, 10_000], 1_500, "3 models on a parabola"),
        case([1_744, 3_768, 6_560, 14_448], 3_000, "4 models near a parabola", noise=0.02),
        case([20_000, 1_000, 300_000, 5_000, 80_000], 30_000, "5 models in no order", noise=0.03),
        case([2_000, 8_000, 30_000, 100_000], 1_200, "4 models that are all too large", noise=0.01),
        case(sizes(13), 40_000, "13 models", noise=0.05),
    ]


def floats(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def best_of(n_parameters, losses):
    return float(n_parameters[losses.index(min(losses))])


def best_on_the_curve(n_parameters, powers, coefficients):
    """Return the trained size at which the fitted parabola is lowest."""
    return float(n_parameters[int((powers @ coefficients).argmin())])


def around_the_best(losses):
    """Return the indices of the model with the lowest loss and of its neighbors."""
    best = max(1, min(losses.index(min(losses)), len(losses) - 2))
    return slice(best - 1, best + 2)


MISTAKES = [
    Mistake(
        "best_of_those_trained",
        STEPS.but(size=best_of),
        STEPS.but(size=lambda n_parameters, losses: n_parameters[losses.index(min(losses))]),
        summary="you return the trained size with the lowest loss instead of fitting a parabola",
        message=(
            "{summary}. The best size need not be one of the trained sizes, and each loss is noisy. At which x is the "
            "fitted parabola lowest?"
        ),
        hints=["If you train only the sizes 1,000 and 10,000, can the best size be 3,000?"],
    ),
    Mistake(
        "lowest_of_the_fitted",
        STEPS.but(size=best_on_the_curve),
        summary="you return the trained size at which the parabola is lowest",
        message="{summary}. The minimum of the parabola can be between two trained sizes. At which x is its slope 0?",
        hints=["If you train only the sizes 1,000 and 10,000, can the best size be 3,000?"],
    ),
    Mistake(
        "no_logarithm",
        STEPS.but(x=lambda n_parameters: floats(n_parameters), size=lambda bottom: bottom.item()),
        STEPS.but(x=lambda n_parameters: floats(n_parameters), size=lambda bottom: bottom.log().item()),
        summary="you fit the parabola in N instead of log N",
        message=(
            "You fit the parabola in N, so the largest size dominates the fit. What should the horizontal axis of the "
            "fit be?"
        ),
        hints=["How far is 10,000 from 1,000 and from 100,000? How far apart are their logarithms?"],
    ),
    Mistake(
        "bases_that_do_not_match",
        STEPS.but(x=lambda x: x / math.log(10)),
        STEPS.but(x=lambda x: x / math.log(2)),
        STEPS.but(size=lambda bottom: (10**bottom).item()),
        STEPS.but(size=lambda bottom: (2**bottom).item()),
        summary="you use different bases for the logarithm and for the power that undoes it",
        message="{summary}. With `log10` and `exp`, for example, 1,000 becomes e³ = 20.",
        hints=["Which base does your logarithm have, and which base does your power have?"],
    ),
    Mistake(
        "loss_at_the_bottom",
        STEPS.but(
            size=lambda coefficients, bottom: (coefficients @ torch.stack([bottom**2, bottom, bottom**0])).item()
        ),
        summary="you return the loss at the minimum instead of the size",
        message=(
            "{summary}. The minimum of the parabola is a point (x, loss). Which of the two coordinates do you need?"
        ),
        hints=["Which axis of the plot shows what you return, and which one should it be?"],
    ),
    Mistake(
        "only_three_sizes",
        STEPS.but(powers=lambda powers: powers[:3], y=lambda y: y[:3]),
        STEPS.but(powers=lambda powers: powers[-3:], y=lambda y: y[-3:]),
        STEPS.but(
            powers=lambda powers, losses: powers[around_the_best(losses)],
            y=lambda y, losses: y[around_the_best(losses)],
        ),
        summary="you fit only three of the points and ignore the others",
        message=(
            "{summary}. Every loss is noisy, and a fit to all points averages the noise. How many rows should your "
            "matrix have?"
        ),
        hints=["If the last loss changes, should your result change? And if the first one changes?"],
    ),
    Mistake(
        "two_points_of_the_axis",
        STEPS.but(size=lambda x: x.mean().exp().item()),
        summary="you return the geometric mean of the sizes, whatever the losses are",
        message="{summary}. If the largest model has the lowest loss, should your answer move toward it?",
        hints=["If you shuffle the losses, should your result change?"],
    ),
    Mistake(
        "logarithm_of_the_losses",
        STEPS.but(y=lambda losses: floats(losses).log()[:, None]),
        summary="you fit the logarithms of the losses instead of the losses",
        message=(
            "{summary}, which moves the minimum: with 3 points, your curve is no longer the parabola through the "
            "losses."
        ),
        hints=["Which axis of the plot is logarithmic, the axis of the sizes or the axis of the losses?"],
    ),
]


EXERCISE = Exercise(
    reference=compute_optimal_size,
    steps=STEPS,
    cases=compute_optimal_size_cases,
    points=2,
    stretch=True,
    verified="You find the minimum of the parabola, between the trained sizes and beyond them.",
    hints=[
        "At x = 1, 2 and 3 the losses are 5, 4 and 5. Where is the minimum of the parabola through these points? If x "
        "is log N, what is N there?",
        "Fit a x² + b x + c to the losses by least squares, with x = log N. At the minimum, the slope 2a x + b is 0.",
        "`torch.linalg.lstsq(powers, losses[:, None]).solution` solves it, for a matrix with the columns x², x and 1.",
        "The minimum is at x = −b / (2a), and the size is `x.exp()`.",
    ],
    messages={
        "index_bottom: coefficients[-1]": Wording(
            "{summary}. Some functions return the coefficient of x² first, others the constant. Which coefficient "
            "does yours return first?",
            summary="you mix up the coefficients of the parabola",
            hints=["Fit a parabola that you know, such as x² − 2x. In which order do its coefficients come out?"],
        ),
        "sign_bottom": Wording(
            "{summary}: for x² − 2x, you get −1 instead of 1. The slope of a x² + b x + c is 2a x + b. At which x is "
            "the slope 0?",
            summary="your minimum is at +b / 2a instead of −b / 2a",
        ),
        "part_left_out_bottom: coefficients[0]": Wording(
            "{summary}, so your x is twice as large as it should be. The slope of a x² + b x + c is 2a x + b. At "
            "which x is the slope 0?",
            summary="you leave out the 2 in the position of the minimum",
        ),
        "call_left_out_size": Wording(
            "{summary}. If the minimum is at log N = 7.3, you return 7.3 instead of e^7.3 = 1,480. Which function "
            "undoes a logarithm?",
            summary="you return the logarithm of the size instead of the size",
        ),
        "left_out_size": Wording(
            "{summary}. If the minimum is at log N = 7.3, you return 7.3 instead of e^7.3 = 1,480. Which function "
            "undoes a logarithm?",
            summary="you return the logarithm of the size instead of the size",
        ),
        "sibling_powers: torch.zeros_like(x)": Wording(
            "{summary}, so your parabola always passes through a loss of 0 at x = 0. Which column does the constant c "
            "need?",
            summary="you fit a parabola without a constant",
            hints=["How many coefficients does a parabola have?"],
        ),
    },
    mistakes=MISTAKES,
)
