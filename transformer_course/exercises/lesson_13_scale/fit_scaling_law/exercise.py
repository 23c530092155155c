"""A straight line on log-log axes, which says how the next model will do."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_13_scale.fit_scaling_law.answer import STEPS, fit_scaling_law
from transformer_course.exercises.lesson_13_scale.fit_scaling_law.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case


def fit_scaling_law_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(sizes, irreducible, shows, *, noise=0.0, rounds_badly=False):
        """Draw a law, and the losses of models of these sizes, each a little off."""
        b, alpha = uniform(rng, 5.0, 20.0), uniform(rng, 0.15, 0.4)
        if rounds_badly:  # half-way between two hundredths
            alpha = (int(100 * alpha) + 0.5) / 100
        law = b * torch.tensor(sizes, dtype=torch.float64) ** -alpha
        losses = irreducible + law * (noise * normal(rng, len(sizes))).exp()
        return Case({"n_parameters": sizes, "losses": losses.tolist(), "irreducible": irreducible}, shows)

    def sizes(n):
        """Draw sizes from a thousand to ten million in no order, so far apart that a fit in float32 is near enough."""
        return [int(10 ** (3 + 4 * uniform(rng, i, i + 1) / n)) for i in torch.randperm(n, generator=rng).tolist()]

    return [
        case([100, 10_000], 0.0, "2 models, and no irreducible loss"),
        case([100, 1_000, 10_000], round(uniform(rng, 1.0, 2.0), 2), "3 models on a line", rounds_badly=True),
        case([200, 3_000, 20_000, 500_000], 1.7, "4 models near a line", noise=0.2),
        case(sizes(5), uniform(rng, 1.0, 2.0), "5 models in no order", noise=0.05),
        case([1_024, 264_256, 124_439_808, 8_030_261_248], 1.69, "from a thousand parameters to Llama 3", noise=0.02),
        case(sizes(13), uniform(rng, 1.0, 2.0), "13 models", noise=0.1),
    ]


FIT_SCALING_LAW = Exercise(
    reference=fit_scaling_law,
    steps=STEPS,
    cases=fit_scaling_law_cases,
    points=2,
    stretch=True,
    verified="The line goes through the middle of the points, and says how a larger model will do.",
    hints=[
        "log(loss − irreducible) = log b − α log N. Plotted against log N, that is a straight line.",
        "The line of least squares has the slope Σ (x − x̄)(y − ȳ) / Σ (x − x̄)², and goes through the point (x̄, ȳ).",
        "Its slope is −α. Where it crosses x = 0, it is at log b.",
    ],
    mistakes=MISTAKES,
)
