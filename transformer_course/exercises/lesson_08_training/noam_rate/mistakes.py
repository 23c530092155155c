"""What goes wrong with the learning rate of the paper."""

import math

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_08_training.noam_rate.answer import STEPS


def _by_the_step(mistake):
    """Return the mistake, also made where the step decides which rate counts: there a wrong rate shows otherwise."""
    rates = {"falling", "rising", "slope"}
    ways = [
        way.of.but(**way.changes, lower=lambda step, warmup, falling, rising: rising if step < warmup else falling)
        for way in mistake.variants
        if rates & way.changes.keys() and not {"lower", "rate"} & way.changes.keys()
    ]
    return mistake.with_ways(*mistake.ways, *ways)


_OF_EITHER_RATE = [
    Mistake(
        "torchs_minimum_of_numbers",
        STEPS.but(lower=lambda falling, rising: torch.min(falling, rising)).attempt,
        STEPS.but(lower=lambda falling, rising: torch.minimum(falling, rising)).attempt,
        STEPS.but(falling=lambda step: torch.rsqrt(step)).attempt,
        STEPS.but(falling=lambda step: 1 / torch.sqrt(step)).attempt,
        says="A function of torch is given plain numbers. It asks for tensors, and there are none here.",
        hints=[
            "What are `step` and `warmup`: numbers or tensors?",
            "Python has a `min` of its own, and `**` for powers.",
            "`min(…, …)`.",
        ],
    ),
    Mistake(
        "adds_the_two_rates",
        STEPS.but(lower=lambda falling, rising: falling + rising),
        does="the two rates are added",
        says="{does}. Only one of them should count at a time.",
        hints=["What should the rate be long after the warm-up? Does the straight line still have a say?"],
    ),
    Mistake(
        "one_step_late",
        STEPS.but(step=lambda step: max(step - 1, 1), rate=lambda step, rate: rate if step > 1 else 0.0).attempt,
        STEPS.but(step=lambda step: step - 1, falling=lambda step: step**-0.5 if step else math.inf),
        does="1 is subtracted from the step",
        says="Everything comes one step too late, and the first step has the rate 0: it would learn nothing.",
        hints=["At which step is the rate highest, with a warm-up of 4?"],
    ),
    Mistake(
        "the_line_alone_has_the_width",
        STEPS.but(rate=lambda width_factor, falling, rising: min(falling, width_factor * rising)),
        does="the factor of the width multiplies only the straight line",
        says="After the warm-up the width of the model makes no difference: brackets are missing, or in another place.",
        hints=["Compare the rates of step 16 for d_model 16 and 512, with a warm-up of 4."],
    ),
    Mistake(
        "compares_the_width",
        STEPS.but(rate=lambda width_factor, lower: min(width_factor, lower)),
        STEPS.but(rate=lambda width_factor, lower: width_factor + lower),
        does="the factor of the width is not multiplied with the rate",
        says="The factor of the width is compared with the rate, or added to it. It should be multiplied.",
        hints=["What is the rate of step 1 with d_model 16 and a warm-up of 4? It should be 1/32."],
    ),
    Mistake(
        "rises_in_a_curve",
        STEPS.but(rising=lambda step, slope: step**0.5 * slope),
        STEPS.but(rising=lambda step, warmup: step**0.5 / warmup),
        STEPS.but(rising=lambda step, slope: step**1.5 * slope),
        STEPS.but(rising=lambda step, slope: step**2 * slope),
        STEPS.but(rising=lambda step, slope: step**-0.5 * slope),
        does="the rising rate has the step to another power than 1",
        says="During the warm-up the rate does not rise in a straight line. Look at exponents and at brackets.",
        hints=["Compare the rates of steps 1 and 2, with a warm-up of 4. The later one should be twice the earlier."],
    ),
]

MISTAKES = [_by_the_step(mistake) for mistake in _OF_EITHER_RATE]
