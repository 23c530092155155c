"""The GRPO loss, which reinforces above-average samples while limiting each update and the drift."""

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
    """Return the GRPO loss: the negative mean, over all real tokens, of clipped gain − beta · drift."""
    ratio = (log_p - log_p_before).exp()
    gain = torch.minimum(ratio * advantages[:, None], ratio.clamp(1 - clip, 1 + clip) * advantages[:, None])
    behind = log_p_reference - log_p
    drift = behind.exp() - behind - 1
    return -(gain - beta * drift)[real].mean()


def ratio(log_p, log_p_before):
    """divide the new by the old probabilities → the probability ratio: exp(log_p − log_p_before), (batch, n)"""
    return (log_p - log_p_before).exp()


def clipped(ratio, clip):
    """clip the ratio between 1 − clip and 1 + clip → the clipped ratio: between 1 − clip and 1 + clip"""
    return ratio.clamp(1 - clip, 1 + clip)


def of_answers(advantages):
    """turn the advantages into a column → the advantages as a column, (batch, 1)"""
    return advantages[:, None]


def gain(ratio, clipped, of_answers):
    """take the smaller product of ratio and advantage → the gain of each token: the smaller of the two products"""
    return torch.minimum(ratio * of_answers, clipped * of_answers)


def behind(log_p_reference, log_p):
    """subtract `log_p` from `log_p_reference` → the difference d: log_p_reference − log_p, (batch, n)"""
    return log_p_reference - log_p


def drift(behind):
    """estimate the KL divergence at each token → the drift from the reference: exp(d) − d − 1, (batch, n)"""
    return behind.exp() - behind - 1


def objective(gain, drift, beta):
    """subtract beta times the drift from the gain → the objective: gain − beta · drift, (batch, n)"""
    return gain - beta * drift


def mean(objective, real):
    """average over all real tokens → the mean over all real tokens"""
    return objective[real].mean()


def loss(mean):
    """negate the mean → the loss: minus the mean"""
    return -mean


STEPS = InSteps(ratio, clipped, of_answers, gain, behind, drift, objective, mean, loss, reference=grpo_loss)


CONSTANTS = ("log_p_before", "log_p_reference", "advantages")


def grpo_loss_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(lengths, n, shows, *, clip=0.2, beta=0.0, moved=0.5, away=0.5):
        """Draw log-probabilities that have changed since sampling and differ from the reference."""
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
    # the first sample is better and likelier, so clipping matters
    far.inputs["log_p_before"][0] = far.inputs["log_p"][0] - 1
    return [
        case([1], 1, "one token, no clipping needed, β of 0", moved=0.05, clip=0.5),
        case([3, 3], 4, "2 answers of 3 tokens, β of 0, a clip of 0.2"),
        far,
        case([3, 3], 4, "freshly sampled answers, β of 0.5", moved=0.0, beta=0.5),
        case([2, 5, 4], 7, "3 answers of different lengths, prompts and padding", beta=uniform(rng, 0.1, 0.4)),
        case([1, 8], 9, "a short and a long answer, a clip of 0.1", clip=0.1, beta=0.1, away=1.0),
        case([9, 12, 3, 7, 11], 15, "5 answers of up to 12 tokens", clip=0.3, beta=0.2),
    ]


MISTAKES = [
    Mistake(
        "always_clipped",
        STEPS.but(gain=lambda clipped, of_answers: clipped * of_answers),
        summary="you always use the clipped ratio",
        message=(
            "{summary}. A token whose ratio has moved beyond the limit in the wrong direction then gets no gradient "
            "that could bring it back."
        ),
        hints=[
            "With advantage −1, ratio 1.5 and clip 0.2, which of the two products is smaller, and which has a gradient?"
        ],
    ),
    Mistake(
        "clips_before_the_advantage",
        STEPS.but(gain=lambda ratio, clipped, of_answers: torch.minimum(ratio, clipped) * of_answers),
        summary="you take the smaller ratio before you multiply by the advantage",
        message=(
            "{summary}. With a negative advantage, the smaller *ratio* gives the larger product. Which two numbers "
            "should you compare?"
        ),
        hints=["For the ratios 1.5 and 1.2 and the advantage −1, which product is smaller?"],
    ),
    Mistake(
        "clips_the_logarithm",
        STEPS.but(clipped=lambda log_p, log_p_before, clip: (log_p - log_p_before).clamp(-clip, clip).exp()),
        summary="you clip the difference of the log-probabilities instead of the ratio",
        message=(
            "{summary}. With clip 0.2, your ratio is between 0.82 and 1.22 instead of 0.8 and 1.2. What should come "
            "first, `exp` or `clamp`?"
        ),
        hints=["With clip 0.2, what is the largest ratio that you allow, and what is e^0.2?"],
    ),
    Mistake(
        "ratio_of_log_probabilities",
        STEPS.but(ratio=lambda log_p, log_p_before: log_p / log_p_before),
        summary="you divide one log-probability by the other",
        message=(
            "{summary}, so a token that has become likelier gets a ratio *below* 1. The ratio of two probabilities is "
            "e to the *difference* of their logarithms."
        ),
        hints=["log a − log b is the logarithm of which number?"],
    ),
    Mistake(
        "ratio_to_the_reference",
        STEPS.but(ratio=lambda log_p, log_p_reference: (log_p - log_p_reference).exp()),
        summary="you take the ratio to the reference instead of the model that sampled",
        message=(
            "{summary}, so even freshly sampled answers have ratios other than 1. Which argument has the "
            "log-probabilities from the time of sampling?"
        ),
        hints=["Right after sampling, log_p equals log_p_before. What should the ratio be then, and what is yours?"],
    ),
    Mistake(
        "difference_as_drift",
        STEPS.but(drift=lambda behind: -behind),
        summary="you use the plain difference of the log-probabilities as the drift",
        message=(
            "{summary}. The difference has the right mean, but it is negative for many tokens. exp(d) − d − 1 is "
            "never negative."
        ),
        hints=["What is the drift for d = 0, for d = 1 and for d = −1?"],
    ),
    Mistake(
        "padding_counts",
        STEPS.but(mean=lambda objective: objective.mean()),
        STEPS.but(mean=lambda objective, real: (objective * real).mean()),
        summary="you include prompts and padding in the mean",
        message=(
            "{summary}, so your loss changes if a row gets more padding. Only the tokens that the model generated "
            "should count. Which argument marks these tokens?"
        ),
        hints=["Which number do you divide the sum by, and which should it be?"],
    ),
    Mistake(
        "mean_of_means",
        STEPS.but(mean=lambda objective, real: ((objective * real).sum(dim=1) / real.sum(dim=1)).mean()),
        summary="you average over each answer first instead of over all real tokens at once",
        message=(
            "{summary}, so a token of a long answer counts less than a token of a short answer. The first paper on "
            "GRPO did this, but here all real tokens count the same."
        ),
        hints=["With answers of 2 and 8 tokens, which fraction of the mean should each token contribute?"],
    ),
]


EXERCISE = Exercise(
    reference=grpo_loss,
    steps=STEPS,
    cases=grpo_loss_cases,
    points=4,
    verified="Better answers gain and worse ones lose, no further than the clip allows. The drift keeps the model near "
    "the reference, and prompts and padding don't count.",
    hints=[
        "A token has ratio 1.5 and advantage 1, and clip is 0.2. What are its two products, and which one is smaller?",
        "There are four parts: the ratio, the smaller of two products, the drift, and a mean over the real tokens. "
        "With d = log_p_reference − log_p, the drift of a token is exp(d) − d − 1.",
        "The ratio is `(log_p - log_p_before).exp()`, and `ratio.clamp(1 - clip, 1 + clip)` is its clipped version. "
        "Multiply *both* by the advantages as a column, and take `torch.minimum`.",
        "The loss is minus the mean of gain − beta · drift over the tokens where `real` is True: `x[real].mean()`.",
    ],
    messages={
        "sibling_gain": Wording(
            "{summary}, so moving the ratio beyond the clipping range still increases the gain. Which of the two "
            "products limits the gain?",
            summary="you take the larger of the two products instead of the smaller",
            hints=["With advantage 1, ratio 1.5 and clip 0.2, how much should the token gain?"],
        ),
        "call_left_out_clipped": Wording(
            "{summary}, so nothing limits how much a token gains by moving far from the policy that sampled it. "
            "Between which two values should the ratio stay?",
            summary="you never clip the ratio",
        ),
        "order_ratio": Wording(
            "{summary}. A token that becomes likelier then has a smaller ratio, and training makes good answers rarer.",
            summary="you divide the old probabilities by the new ones",
            hints=["If a token has become twice as likely, what should the ratio be?"],
        ),
        "call_left_out_ratio": Wording(
            "{summary}. For a token that is as likely as before, you get 0, but the ratio should be 1. Which function "
            "turns the difference into a ratio?",
            summary="you use the difference of the log-probabilities as the ratio",
            hints=["For which function f is f(log a − log b) equal to a / b?"],
        ),
        "order_behind": Wording(
            "{summary}. For a token that is twice as likely as under the reference, your drift is 0.31 instead of "
            "0.19. The answers were sampled from the model: which of the two log-probabilities comes first?",
            summary="you use log_p − log_p_reference as d instead of log_p_reference − log_p",
            hints=["With log_p = −1 and log_p_reference = −3, what should d be, and what is yours?"],
        ),
        "part_left_out_objective: gain": Wording(
            "{summary}, so nothing keeps the model near the reference. What should you subtract from the gain?",
            summary="you leave out the drift",
        ),
        "operator_objective: (gain) + (beta * drift)": Wording(
            "{summary}, so you reward the model for moving away from the reference.",
            summary="you add beta times the drift to the gain instead of subtracting it",
            hints=["When the drift grows, should the loss grow or shrink?"],
        ),
        "part_left_out_drift: behind.exp() - behind": Wording(
            "{summary}, so for d = 0 your drift is 1. Which value should it have there?",
            summary="you leave out the 1 in exp(d) − d − 1",
        ),
        "part_left_out_drift: behind.exp()": Wording(
            "{summary}, so your drift is negative for every d below 0, but exp(d) − d − 1 is never negative.",
            summary="you leave out the d in exp(d) − d − 1",
        ),
        "call_left_out_drift: behind": Wording(
            "{summary}, so your drift is −1 for every token. For d = 0, it should be 0.",
            summary="you leave out the exponential in exp(d) − d − 1",
        ),
        "sign_loss": Wording(
            "{summary}, so training makes the gain as small as possible. Should a larger gain raise or lower the loss?",
            summary="your loss has the wrong sign",
        ),
        "sibling_mean: objective[real].sum()": Wording(
            "{summary}, so the loss grows with the number of tokens. What should you divide the sum by?",
            summary="you add up the objective over the tokens instead of averaging it",
        ),
        "part_left_out_clipped: -(clip)": Wording(
            "{summary}, so with clip 0.2 a ratio of 0.1 stays 0.1. What is the smallest ratio that you should allow?",
            summary="you clip the ratio at 1 + clip and not at 1 − clip",
        ),
    },
    mistakes=MISTAKES,
)
