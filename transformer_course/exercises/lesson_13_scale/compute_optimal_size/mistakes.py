"""What goes wrong when the best size is read off a parabola."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.compute_optimal_size.answer import STEPS


def floats(numbers):
    return torch.tensor(numbers, dtype=torch.float64)


def best_of(n_parameters, losses):
    return float(n_parameters[losses.index(min(losses))])


MISTAKES = [
    Mistake(
        "best_of_those_trained",
        STEPS.but(size=best_of),
        STEPS.but(size=lambda n_parameters, losses: n_parameters[losses.index(min(losses))]),
        does="the size with the lowest loss is returned, and nothing is fitted",
        says="{does}. The best size lies between those that were trained, and each loss is off by chance.",
        hints=["If you trained sizes 1,000 and 10,000 only, can the best size be 3,000?"],
    ),
    Mistake(
        "no_logarithm",
        STEPS.but(x=lambda n_parameters: floats(n_parameters), size=lambda bottom: bottom.item()),
        STEPS.but(x=lambda n_parameters: floats(n_parameters), size=lambda bottom: bottom.log().item()),
        does="the parabola is fitted in N, not in log N",
        says="{does}: then the largest size, far away from all others, decides nearly alone.",
        hints=["How far is 10,000 from 1,000, and how far is it from 100,000? And on a logarithmic axis?"],
    ),
    Mistake(
        "bases_that_do_not_match",
        STEPS.but(x=lambda x: x / math.log(10)),
        STEPS.but(x=lambda x: x / math.log(2)),
        STEPS.but(size=lambda bottom: (10**bottom).item()),
        STEPS.but(size=lambda bottom: (2**bottom).item()),
        does="the logarithm and the power that undoes it do not have the same base",
        hints=["Which number is `exp` a power of? And which one belongs to `log10`?"],
    ),
    Mistake(
        "coefficients_in_the_other_order",
        STEPS.but(bottom=lambda coefficients: -coefficients[1] / (2 * coefficients[2])),
        does="the coefficients are taken in the other order: that of x² stands first",
        says="The coefficients are taken in the other order. Look up which of them your fit returns first.",
        hints=["Fit a parabola that you know, such as x² − 2x. Which coefficient comes first?"],
    ),
    Mistake(
        "loss_at_the_bottom",
        STEPS.but(
            size=lambda coefficients, bottom: (coefficients @ torch.stack([bottom**2, bottom, bottom**0])).item()
        ),
        does="the loss at the bottom is returned, not the size",
        hints=["Which axis of the plot is asked for?"],
    ),
    Mistake(
        "logarithm_of_the_losses",
        STEPS.but(y=lambda losses: floats(losses).log()[:, None]),
        does="the logarithms of the losses are fitted, not the losses",
        hints=["Which of the two axes is logarithmic, that of the sizes or that of the losses?"],
    ),
    Mistake(
        "no_constant",
        STEPS.but(
            powers=lambda x: torch.stack([x**2, x], dim=1),
            bottom=lambda coefficients: -coefficients[1] / (2 * coefficients[0]),
        ),
        does="the parabola has no constant, so it goes through 0",
        says="{does}. It can then be neither raised nor lowered.",
        hints=["How many coefficients has a parabola?"],
    ),
    Mistake(
        "only_three_sizes",
        STEPS.but(powers=lambda powers: powers[:3], y=lambda y: y[:3]),
        STEPS.but(powers=lambda powers: powers[-3:], y=lambda y: y[-3:]),
        does="the parabola goes through three of the points, and the others play no part",
        hints=["Does the result change when the last loss does? And when the first one does?"],
    ),
    Mistake(
        "two_points_of_the_axis",
        STEPS.but(size=lambda x: x.mean().exp().item()),
        does="the middle of the sizes is returned, whatever the losses are",
        hints=["Does the result change when the losses do?"],
    ),
]
