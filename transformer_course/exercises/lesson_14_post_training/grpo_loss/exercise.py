"""The loss of GRPO: raise what did better than its group, in small steps, near the reference."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_14_post_training.grpo_loss.answer import STEPS, grpo_loss
from transformer_course.exercises.lesson_14_post_training.grpo_loss.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case

CONSTANTS = ("log_p_before", "log_p_reference", "advantages")


def grpo_loss_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(lengths, n, shows, *, clip=0.2, beta=0.0, moved=0.5, away=0.5):
        """Draw log-probabilities that moved since the sampling, and away from the reference."""
        log_p = -0.2 - 2 * torch.rand(len(lengths), n, generator=rng)
        before = log_p - moved * normal(rng, len(lengths), n)
        reference = log_p - away * normal(rng, len(lengths), n)
        advantages = normal(rng, len(lengths))
        advantages[0], advantages[-1] = advantages[0].abs() + 0.3, -advantages[-1].abs() - 0.3
        starts = torch.arange(len(lengths)) % 3  # prompts of 0, 1 and 2 tokens
        positions = torch.arange(n)
        ends = (starts + torch.tensor(lengths))[:, None]
        real = (positions >= starts[:, None]) & (positions < ends)
        inputs = {"log_p": log_p, "log_p_before": before, "log_p_reference": reference, "advantages": advantages}
        return Case(inputs | {"real": real, "clip": clip, "beta": beta}, shows, constants=CONSTANTS)

    far = case([4, 4], 5, "2 answers that moved far, a clip of 0.4", moved=0.7, clip=0.4)
    far.inputs["log_p_before"][0] = far.inputs["log_p"][0] - 1  # the first is better, and likelier: the clip decides
    return [
        case([1], 1, "one token, no clipping needed, β of 0", moved=0.05, clip=0.5),
        case([3, 3], 4, "2 answers of 3 tokens, β of 0, a clip of 0.2"),
        far,
        case([3, 3], 4, "what was sampled just now, β of 0.5", moved=0.0, beta=0.5),
        case([2, 5, 4], 7, "3 answers of different lengths, prompts and padding", beta=uniform(rng, 0.1, 0.4)),
        case([1, 8], 9, "a short and a long answer, a clip of 0.1", clip=0.1, beta=0.1, away=1.0),
        case([9, 12, 3, 7, 11], 15, "5 answers of up to 12 tokens", clip=0.3, beta=0.2),
    ]


GRPO_LOSS = Exercise(
    reference=grpo_loss,
    steps=STEPS,
    cases=grpo_loss_cases,
    points=4,
    verified="Better answers gain and worse ones lose, no further than the clip allows; the reference holds the model, "
    "and prompts and padding do not count.",
    hints=[
        "Four parts: the ratio, the smaller of two products, the drift, and a mean over the tokens that are real. "
        "Print each for a single token first.",
        "The ratio is `(log_p - log_p_before).exp()`; `ratio.clamp(1 - clip, 1 + clip)` is its clipped twin. Multiply "
        "*both* by the advantages, as a column, and take `torch.minimum`.",
        "With d = log_p_reference − log_p, the drift of a token is exp(d) − d − 1: at least 0, and 0 where d is.",
        "The loss is minus the mean of gain − beta · drift over the tokens where `real` is True: `x[real].mean()`.",
    ],
    mistakes=MISTAKES,
)
