"""The loss of GRPO: raise what did better than its group, in small steps, near the reference."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def grpo_loss(
    log_p: Float[Tensor, "batch n"],
    log_p_before: Float[Tensor, "batch n"],
    log_p_reference: Float[Tensor, "batch n"],
    advantages: Float[Tensor, " batch"],
    real: Bool[Tensor, "batch n"],
    clip: float,
    beta: float,
) -> Float[Tensor, ""]:
    """Return the loss of GRPO: minus the mean, over all real tokens, of the clipped gain less beta times the drift."""
    ratio = (log_p - log_p_before).exp()
    gain = torch.minimum(ratio * advantages[:, None], ratio.clamp(1 - clip, 1 + clip) * advantages[:, None])
    behind = log_p_reference - log_p
    drift = behind.exp() - behind - 1
    return -(gain - beta * drift)[real].mean()


def ratio(log_p, log_p_before):
    """divide new by old probabilities → the ratio of the probabilities: exp(log_p − log_p_before), (batch, n)"""
    return (log_p - log_p_before).exp()


def clipped(ratio, clip):
    """keep the ratio between 1 − clip and 1 + clip → the clipped ratio: between 1 − clip and 1 + clip"""
    return ratio.clamp(1 - clip, 1 + clip)


def of_answers(advantages):
    """stand the advantages in a column → the advantage of each answer, (batch, 1)"""
    return advantages[:, None]


def gain(ratio, clipped, of_answers):
    """multiply both by the advantage, and take the smaller → the gain of each token: the smaller product"""
    return torch.minimum(ratio * of_answers, clipped * of_answers)


def behind(log_p_reference, log_p):
    """subtract log-probabilities from the reference's → the difference d: log_p_reference − log_p, (batch, n)"""
    return log_p_reference - log_p


def drift(behind):
    """estimate the KL divergence at each token → the drift from the reference: exp(d) − d − 1, (batch, n)"""
    return behind.exp() - behind - 1


def objective(gain, drift, beta):
    """subtract beta times the drift from the gain → what should grow: gain − beta · drift, (batch, n)"""
    return gain - beta * drift


def mean(objective, real):
    """average over all real tokens of the batch → the mean over all real tokens"""
    return objective[real].mean()


def loss(mean):
    """turn the sign round → the loss: minus the mean"""
    return -mean


STEPS = InSteps(ratio, clipped, of_answers, gain, behind, drift, objective, mean, loss, reference=grpo_loss)


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


MISTAKES = [
    Mistake(
        "always_clipped",
        STEPS.but(gain=lambda clipped, of_answers: clipped * of_answers),
        summary="the clipped ratio counts even where the other one is smaller",
        message=(
            "{summary}: a token that moved the wrong way beyond the limit gets no gradient, and can never come back. "
            "Take the smaller of both products."
        ),
        hints=["Advantage −1, ratio 1.5: which of the two products is smaller, and which has a gradient?"],
    ),
    Mistake(
        "clips_before_the_advantage",
        STEPS.but(gain=lambda ratio, clipped, of_answers: torch.minimum(ratio, clipped) * of_answers),
        summary="the smaller of the two ratios is taken before the advantage is known",
        message=("{summary}. With a negative advantage, the smaller *ratio* gives the larger product. Multiply first."),
        hints=["Ratios 1.5 and 1.2, advantage −1: which product is the smaller one?"],
    ),
    Mistake(
        "clips_the_logarithm",
        STEPS.but(clipped=lambda log_p, log_p_before, clip: (log_p - log_p_before).clamp(-clip, clip).exp()),
        summary="the difference of the log-probabilities is clipped, not the ratio",
    ),
    Mistake(
        "ratio_of_log_probabilities",
        STEPS.but(ratio=lambda log_p, log_p_before: log_p / log_p_before),
        summary="log-probabilities are divided by each other",
        message="{summary}. The ratio of two probabilities is e to the *difference* of their logarithms.",
        hints=["log a − log b is the logarithm of what?"],
    ),
    Mistake(
        "ratio_to_the_reference",
        STEPS.but(ratio=lambda log_p, log_p_reference: (log_p - log_p_reference).exp()),
        summary="the ratio is taken to the reference, not to the model that sampled",
    ),
    Mistake(
        "difference_as_drift",
        STEPS.but(drift=lambda behind: -behind),
        summary="the plain difference of the log-probabilities stands for the drift",
        message=("{summary}. It is right on average, but negative at every other token; exp(d) − d − 1 never is."),
        hints=["What is the drift where d = 0? And for d = 1 and d = −1?"],
    ),
    Mistake(
        "padding_counts",
        STEPS.but(mean=lambda objective: objective.mean()),
        STEPS.but(mean=lambda objective, real: (objective * real).mean()),
        summary="the mean runs over prompts and padding, too",
        message="{summary}. Only tokens that the model wrote can be rewarded: those that are `real`.",
        hints=["By which number is the sum divided, and by which should it be?"],
    ),
    Mistake(
        "mean_of_means",
        STEPS.but(mean=lambda objective, real: ((objective * real).sum(dim=1) / real.sum(dim=1)).mean()),
        summary="each answer is averaged first, and then the answers",
        message=(
            "{summary}, so a token of a long answer counts less than one of a short answer. (The first paper on GRPO "
            "did this.) Here all real tokens count the same."
        ),
        hints=["Answers of 2 and 8 tokens: how much of the mean should each token be?"],
    ),
]


EXERCISE = Exercise(
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
    messages={
        "sibling_gain": Wording(
            "{summary}. Then moving far always pays, which is what the clipping should prevent.",
            summary="the larger of the two products is taken, not the smaller",
            hints=["Advantage 1, ratio 1.5, clip 0.2: how much should be gained by the last 0.3?"],
        ),
        "call_left_out_clipped": Wording(summary="the ratio is never clipped"),
        "order_ratio": Wording(
            "{summary}. Then a larger probability gives a smaller ratio, and training makes good answers rarer.",
            summary="the ratio is that of before to now",
            hints=["If a token has become twice as likely, what should the ratio be?"],
        ),
        "call_left_out_ratio": Wording(
            "{summary}: without `exp` it is 0, not 1, where nothing has changed.",
            summary="the ratio is left as a difference of logarithms",
            hints=["Where log_p equals log_p_before, what should the ratio be?"],
        ),
        "order_behind": Wording(
            "{summary}. The answers were sampled by the model, so d = log_p_reference − log_p.",
            summary="d is log_p − log_p_reference, which is the wrong way round",
            hints=["Which of the two is subtracted from the other?"],
        ),
        "part_left_out_objective: gain": Wording(summary="nothing holds the model near the reference"),
        "operator_objective: (gain) + (beta * drift)": Wording(
            "{summary}: a model that moves away from the reference is rewarded for it.",
            summary="beta times the drift is added to the gain",
            hints=["Should the loss be larger or smaller when the drift grows?"],
        ),
        "sign_loss": Wording(summary="the minus is missing: the optimizer would make the gain as small as it can"),
        "sibling_mean: objective[real].sum()": Wording(summary="the tokens are added up, not averaged"),
        "part_left_out_clipped: -(clip)": Wording(
            summary="the ratio is clipped above 1 + clip, and not below 1 − clip"
        ),
    },
    mistakes=MISTAKES,
)
