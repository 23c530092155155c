"""The learning rate of the paper: up in a straight line, then down with the root of the step."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_08_training.noam_rate.answer import STEPS
from transformer_course.exercises.lesson_08_training.noam_rate.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_lab.training.schedules import noam_rate


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


NOAM_RATE = Exercise(
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
    told={
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
