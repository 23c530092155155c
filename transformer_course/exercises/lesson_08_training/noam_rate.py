"""The learning rate of the paper: up in a straight line, then down with the root of the step."""

import torch

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.training.schedules import noam_rate


def width_factor(d_model):
    """take one over the root of `d_model` → the factor of the width: d_model^(−½)"""
    return d_model**-0.5


def falling(step):
    """take one over the root of the step → the falling rate: step^(−½)"""
    return step**-0.5


def slope(warmup):
    """raise the warm-up to the power of −3/2 → the slope of the straight line: warmup^(−3/2)"""
    return warmup**-1.5


def rising(step, slope):
    """multiply it by the step → the rising rate: step · warmup^(−3/2)"""
    return step * slope


def lower(falling, rising):
    """take the lower of the two rates → the lower of the two rates"""
    return min(falling, rising)


def rate(width_factor, lower):
    """multiply it by the factor of the width → the learning rate"""
    return width_factor * lower


STEPS = InSteps(width_factor, falling, slope, rising, lower, rate, reference=noam_rate)


def noam_rate_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    warmup = int(torch.randint(50, 300, (), generator=rng))
    d_model = 2 * int(torch.randint(10, 60, (), generator=rng))
    sizes = [
        (1, 16, 4, "the first step"),
        (2, 16, 4, "half of the warm-up"),
        (4, 16, 4, "the last step of the warm-up"),
        (16, 16, 4, "long after the warm-up"),
        (7, 512, 4000, "the paper's sizes, at the beginning"),
        (100_000, 512, 4000, "the paper's sizes, at the end"),
        (warmup // 3, d_model, warmup, f"a third of a warm-up of {warmup} steps"),
        (5 * warmup, d_model, warmup, f"five times a warm-up of {warmup} steps"),
    ]
    return [Case({"step": s, "d_model": d, "warmup": w}, shows) for s, d, w, shows in sizes]


MISTAKES = [
    Mistake(
        "adds_the_two_rates",
        STEPS.but(lower=lambda falling, rising: falling + rising),
        summary="the two rates are added",
        message="{summary}. Only one of them should count at a time.",
        hints=["What should the rate be long after the warm-up? Does the straight line still have a say?"],
    ),
    Mistake(
        "the_line_alone_has_the_width",
        STEPS.but(rate=lambda width_factor, falling, rising: min(falling, width_factor * rising)),
        summary="the factor of the width multiplies only the straight line",
        message=(
            "After the warm-up the width of the model makes no difference: brackets are missing, or in another place."
        ),
    ),
]


EXERCISE = Exercise(
    reference=noam_rate,
    steps=STEPS,
    cases=noam_rate_cases,
    points=1,
    verified="It rises in even steps, is highest at the last step of the warm-up, and then falls as the inverse root.",
    hints=[
        "Two rates, and the lower of them counts. Which of the two grows with the step?",
        "$x^{-1/2}$ is one over the root of x: `x ** -0.5`.",
        "`d_model**-0.5` times the `min` of `step**-0.5` and `step * warmup**-1.5`.",
    ],
    messages={
        "shifted_step: step + 1": (
            "Everything comes one step too early, as if steps were counted from 0. Here the first step is number 1."
        ),
        "shifted_step: step - 1": (
            "1 is subtracted from the step, so that the first one is 0, and one over its root does not exist."
        ),
        "moved_lower": (
            "During the warm-up the width of the model makes no difference: brackets are missing, or in another place."
        ),
    },
    mistakes=MISTAKES,
)
