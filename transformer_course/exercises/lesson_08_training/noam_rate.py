"""The learning-rate schedule from the Transformer paper: linear warm-up, then inverse-square-root decay."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.training.schedules import noam_rate


def width_factor(d_model):
    """raise d_model to the power −1/2 → the width factor: d_model^(−½)"""
    return d_model**-0.5


def falling(step):
    """raise the step to the power −1/2 → the decaying rate: step^(−½)"""
    return step**-0.5


def slope(warmup):
    """raise the warm-up to the power −3/2 → the slope of the warm-up: warmup^(−3/2)"""
    return warmup**-1.5


def rising(step, slope):
    """multiply the step by the slope of the warm-up → the warm-up rate: step · warmup^(−3/2)"""
    return step * slope


def lower(falling, rising):
    """take the lower of the two rates → the lower of the two rates"""
    return min(falling, rising)


def rate(width_factor, lower):
    """multiply the lower rate by the width factor → the learning rate"""
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


def warming_up_to_1(step, warmup, falling):
    return step / warmup if step < warmup else falling


def still_1_at_the_end(step, warmup, falling):
    return step / warmup if step <= warmup else falling


MISTAKES = [
    Mistake(
        "warms_up_to_1",
        STEPS.but(lower=warming_up_to_1),
        STEPS.but(lower=still_1_at_the_end),
        summary="your warm-up rises towards 1 instead of warmup^(−½)",
        message=(
            "{summary} (without the width factor): with a warm-up of 4, it is already 3/4 at step 3, above the peak "
            "of 1/2. How high should the warm-up rate be at step 4, where the two formulas meet?"
        ),
        hints=["What is step^(−½) at the last step of the warm-up? The warm-up rate should be equal to it there."],
    ),
    Mistake(
        "one_step_too_late",
        STEPS.but(step=lambda step: max(step - 1, 1)),
        summary="you use step − 1 instead of the step",
        message=(
            "{summary}, so all of your rates come one step too late: with a warm-up of 4, your peak is at step 5. "
            "What is the number of the first step?"
        ),
        hints=["With a warm-up of 4, at which step should the rate be highest?"],
    ),
    Mistake(
        "adds_the_two_rates",
        STEPS.but(lower=lambda falling, rising: falling + rising),
        summary="you add the two rates",
        message=(
            "{summary}, so your learning rate keeps rising after the warm-up. Which of the two rates should you use "
            "at each step?"
        ),
        hints=[
            "At step 16 with a warm-up of 4, what is step^(−½), and what is step · warmup^(−3/2)? Which rate should "
            "you use there?",
        ],
    ),
    Mistake(
        "the_line_alone_has_the_width",
        STEPS.but(rate=lambda width_factor, falling, rising: min(falling, width_factor * rising)),
        summary="you multiply only the warm-up rate by the width factor",
        message=(
            "{summary}, so late in training your learning rate doesn't depend on d_model. Which of the two rates "
            "should the factor d_model^(−½) multiply?"
        ),
        hints=[
            "If d_model is 4 times as large, by which factor should the learning rate change during the warm-up? "
            "And after it?",
        ],
    ),
]


EXERCISE = Exercise(
    reference=noam_rate,
    steps=STEPS,
    cases=noam_rate_cases,
    points=1,
    verified=(
        "Your rate rises linearly, peaks at the last warm-up step, and then decays as the inverse square root of "
        "the step."
    ),
    hints=[
        "With a warm-up of 4, compute step^(−½) and step · warmup^(−3/2) for the steps 1, 4 and 16. Which of the "
        "two is lower at each step?",
        "$x^{-1/2}$ is one over the square root of x: `x ** -0.5`.",
        "`d_model**-0.5` times the `min` of `step**-0.5` and `step * warmup**-1.5`.",
    ],
    messages={
        "shifted_step: step + 1": (
            Wording(
                "You use step + 1, as if steps were counted from 0. Here, the first step is step 1, so with a warm-up "
                "of 4 your rate peaks at step 3 instead of step 4. Which number should you use for the step?",
                summary="you use step + 1 instead of the step",
                hints=["If the step is 4 and the warm-up is 4, which number do you use for the step?"],
            )
        ),
        "sibling_lower: max(falling, rising)": Wording(
            "{summary}, so you use the larger of the two, and your rate keeps rising to the end. Which of the two "
            "rates should you use at step 1?",
            summary="you use the decaying rate during the warm-up and the warm-up rate after it",
            hints=["With a warm-up of 4, what are the two rates at the steps 1, 4 and 16?"],
        ),
        "number_slope: 0.5": Wording(
            "You raise the warm-up to the power −0.5, so the two rates don't meet at the end of the warm-up: at step 4 "
            "of 4, the decaying rate is 1/2, but yours is 2. Which power of the warm-up makes them equal there?",
            summary="you raise the warm-up to the power −0.5 instead of −1.5",
            hints=["If step = warmup, what is step^(−½)? Which slope makes step · slope equal to it?"],
        ),
        "number_slope: 1": Wording(
            "You raise the warm-up to the power −1, so your warm-up rate reaches 1 at the end of the warm-up, where "
            "the decaying rate is only warmup^(−½). Which power of the warm-up makes the two rates equal there?",
            summary="you raise the warm-up to the power −1 instead of −1.5",
            hints=["If step = warmup, what is step^(−½)? Which slope makes step · slope equal to it?"],
        ),
        "shifted_step: step - 1": (
            Wording(
                "You subtract 1 from the step, so the first step becomes 0, and 0 to the power −½ is undefined. From "
                "which number are the steps counted?",
                summary="you subtract 1 from the step",
                hints=["What is `0 ** -0.5` in Python?"],
            )
        ),
        "moved_lower": (
            Wording(
                "You multiply only the decaying rate by d_model^(−½), so early in the warm-up your learning rate "
                "doesn't depend on d_model. Which of the two rates should this factor multiply?",
                summary="you multiply only the decaying rate by the width factor",
                hints=[
                    "If d_model is 4 times as large, by which factor should the learning rate change during the "
                    "warm-up?",
                ],
            )
        ),
    },
    mistakes=MISTAKES,
)
