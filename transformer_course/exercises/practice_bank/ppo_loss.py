"""The loss of PPO with a critic: clipped policy loss and clipped value loss.

``grpo_loss`` in lesson 14 has the same clipped ratio and a KL term for each token, but no critic.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def ppo_loss(
    log_p: Float[Tensor, " n"],
    old_log_p: Float[Tensor, " n"],
    advantages: Float[Tensor, " n"],
    values: Float[Tensor, " n"],
    old_values: Float[Tensor, " n"],
    returns: Float[Tensor, " n"],
    clip: float,
    value_weight: float,
) -> Float[Tensor, ""]:
    """Return the clipped policy loss plus `value_weight` times the clipped value loss, both averaged over all steps."""
    ratio = (log_p - old_log_p).exp()
    gain = torch.minimum(ratio * advantages, ratio.clamp(1 - clip, 1 + clip) * advantages)
    clipped_values = old_values + (values - old_values).clamp(-clip, clip)
    errors = torch.maximum((values - returns) ** 2, (clipped_values - returns) ** 2)
    return -gain.mean() + value_weight * 0.5 * errors.mean()


def ratio(log_p, old_log_p):
    """divide new by old probabilities → the ratio of the probabilities: exp(log_p − old_log_p)"""
    return (log_p - old_log_p).exp()


def clipped_ratio(ratio, clip):
    """keep the ratio between 1 − clip and 1 + clip → the clipped ratio"""
    return ratio.clamp(1 - clip, 1 + clip)


def gain(ratio, clipped_ratio, advantages):
    """take the smaller product of ratio and advantage → the gain of each step: the smaller product"""
    return torch.minimum(ratio * advantages, clipped_ratio * advantages)


def policy_loss(gain):
    """negate the mean gain → the policy loss: minus the mean gain"""
    return -gain.mean()


def clipped_values(values, old_values, clip):
    """keep the values within clip of the old values → the clipped values: old value + clamped change"""
    return old_values + (values - old_values).clamp(-clip, clip)


def errors(values, clipped_values, returns):
    """take the larger of the two squared errors → the squared error of each step: the larger of the two"""
    return torch.maximum((values - returns) ** 2, (clipped_values - returns) ** 2)


def value_loss(errors):
    """take half of the mean squared error → the value loss: half of the mean squared error"""
    return 0.5 * errors.mean()


def loss(policy_loss, value_loss, value_weight):
    """add the weighted value loss to the policy loss → the loss: policy loss + value_weight · value loss"""
    return policy_loss + value_weight * value_loss


STEPS = InSteps(ratio, clipped_ratio, gain, policy_loss, clipped_values, errors, value_loss, loss, reference=ppo_loss)

CONSTANTS = ("old_log_p", "advantages", "old_values", "returns")
"""Values recorded when the actions were sampled."""


def ppo_loss_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, shows, *, clip=0.2, value_weight=0.5, moved=0.5):
        log_p = -0.2 - 2 * torch.rand(n, generator=rng)
        values = normal(rng, n)
        inputs = {
            "log_p": log_p,
            "old_log_p": log_p - moved * normal(rng, n),
            "advantages": normal(rng, n) + 0.1,
            "values": values,
            "old_values": values - moved * normal(rng, n),
            "returns": values + normal(rng, n),
        }
        return Case({**inputs, "clip": clip, "value_weight": value_weight}, shows, constants=CONSTANTS)

    both = case(4, "4 steps: both signs of the advantage, far above and below the limits", clip=0.3)
    both.inputs["advantages"][:] = torch.tensor([1.0, -1.0, 1.0, -1.0]) * (0.5 + torch.rand(4, generator=rng))
    both.inputs["old_log_p"][:] = both.inputs["log_p"] - torch.tensor([0.8, 0.8, -0.8, -0.8])
    return [
        case(1, "one step that moved little", moved=0.01),
        case(3, "3 steps, no weight for the values", value_weight=0.0),
        both,
        case(5, "5 steps that moved far, a clip of 0.1", clip=0.1, moved=1.0),
        case(7, "7 steps, a large weight for the values", value_weight=2.0),
        case(64, "64 steps", clip=uniform(rng, 0.15, 0.3), moved=0.6),
    ]


MISTAKES = [
    Mistake(
        "always_clipped",
        STEPS.but(gain=lambda clipped_ratio, advantages: clipped_ratio * advantages),
        summary="you use the clipped ratio even where the other product is smaller",
        message=(
            "You always use the clipped ratio. A ratio that has moved beyond the limit in the wrong direction then "
            "gets no gradient that could bring it back. What should you compare the clipped product with?"
        ),
        hints=["Advantage −1, ratio 1.5, clip 0.2: which product is smaller, and which one has a gradient?"],
    ),
    Mistake(
        "maximum_of_the_gains",
        STEPS.but(
            gain=lambda ratio, clipped_ratio, advantages: torch.maximum(ratio * advantages, clipped_ratio * advantages)
        ),
        summary="you take the larger of the two gains",
        message=(
            "You take the larger of the two gains, so a large change always pays and the clip limits nothing. (PPO "
            "takes the *maximum* of two losses or the minimum of two gains.) Are your two terms losses or gains?"
        ),
        hints=["Advantage 1, ratio 2, clip 0.2: should the gain be 2 or 1.2?"],
    ),
    Mistake(
        "clips_before_the_advantage",
        STEPS.but(gain=lambda ratio, clipped_ratio, advantages: torch.minimum(ratio, clipped_ratio) * advantages),
        summary="you take the smaller *ratio* before you multiply by the advantage",
        message="You take the smaller ratio and multiply it by the advantage. With a negative advantage, the "
        "smaller ratio gives the *larger* product. In which order should the two operations come?",
        hints=["Ratios 1.5 and 1.2, advantage −1: which product is smaller?"],
    ),
    Mistake(
        "smaller_value_error",
        STEPS.but(
            errors=lambda values, clipped_values, returns: torch.minimum(
                (values - returns) ** 2, (clipped_values - returns) ** 2
            )
        ),
        summary="you take the smaller of the two value errors",
        message=(
            "You take the smaller of the two squared errors. The clipped value loss is pessimistic: it is the larger "
            "of the two errors. Do you minimize or maximize this term?"
        ),
        hints=["If the new value jumped to the return, and the clipped one is still far away, which error counts?"],
    ),
    Mistake(
        "clips_around_the_returns",
        STEPS.but(clipped_values=lambda values, returns, clip: returns + (values - returns).clamp(-clip, clip)),
        summary="you clip the values around the returns",
        message=(
            "You keep the values within `clip` of the *returns*. The clip should limit how far an update moves the "
            "critic. Around which values should you clip?"
        ),
        hints=["What would the clipped value be if the critic had not changed at all?"],
    ),
    Mistake(
        "gain_instead_of_loss",
        STEPS.but(policy_loss=lambda gain: gain.mean()),
        summary="your policy loss has the wrong sign",
        message="You return the mean gain as a loss. An optimizer makes the loss smaller, so good actions become "
        "rarer. Which sign is missing?",
        hints=["If an advantage is positive, should the loss fall or rise when the action becomes likelier?"],
    ),
    Mistake(
        "ratio_of_log_probabilities",
        STEPS.but(ratio=lambda log_p, old_log_p: log_p / old_log_p),
        summary="you divide one log-probability by the other",
        message=(
            "You divide one log-probability by the other. The ratio of two probabilities is e to the *difference* of "
            "their logarithms. What is log a − log b?"
        ),
        hints=["With equal log-probabilities of −1, the ratio is 1 either way. What do −1 and −2 give?"],
    ),
    Mistake(
        "no_exponential",
        STEPS.but(ratio=lambda log_p, old_log_p: log_p - old_log_p),
        summary="you use the difference of the log-probabilities as the ratio",
        message="You use the difference of the log-probabilities as the ratio. Where nothing has changed it is 0, "
        "and a ratio should be 1. Which function is missing?",
        hints=["If log_p equals old_log_p, what is the ratio of the probabilities?"],
    ),
    Mistake(
        "never_clipped",
        STEPS.but(gain=lambda ratio, advantages: ratio * advantages),
        summary="the clip has no effect on your policy loss",
        message=(
            "The clip has no effect on your policy loss, so one batch can push the policy as far as it likes. What "
            "limits the gain of an action that has become twice as likely?"
        ),
        hints=["Advantage 1, ratio 2, clip 0.2: what should the gain be?"],
    ),
    Mistake(
        "clip_has_no_lower_limit",
        STEPS.but(clipped_ratio=lambda ratio, clip: ratio.clamp(max=1 + clip)),
        summary="you clip the ratio only from above",
        message=(
            "You clip the ratio at 1 + clip, but not at 1 − clip. For a negative advantage, nothing then stops an "
            "action from becoming ever less likely. Which limit is missing?"
        ),
        hints=["Advantage −1, ratio 0.5, clip 0.2: what should the gain be?"],
    ),
    Mistake(
        "clips_around_zero",
        STEPS.but(clipped_ratio=lambda ratio, clip: ratio.clamp(-clip, clip)),
        summary="you keep the ratio between −clip and clip",
        message="You clip the ratio to [−clip, clip]. The ratio is 1 when the policy hasn't changed, so the range "
        "should be centered on 1. What are its limits?",
        hints=["With a clip of 0.2, what does a ratio of 1 become in your code?"],
    ),
    Mistake(
        "wrong_side_for_a_negative_advantage",
        STEPS.but(
            gain=lambda ratio, advantages, clip: (
                torch.where(advantages > 0, ratio.clamp(max=1 + clip), ratio.clamp(max=1 - clip)) * advantages
            )
        ),
        summary="for a negative advantage, you keep the ratio below 1 − clip instead of above it",
        message=(
            "{summary}. A ratio of 1 then counts as 0.8, even if nothing has changed. On which side should the ratio "
            "of "
            "a bad action be limited?"
        ),
        hints=["Advantage −1, clip 0.2: what should the gain be for the ratios 0.5 and 1.5?"],
    ),
]

EXERCISE = Exercise(
    reference=ppo_loss,
    steps=STEPS,
    cases=ppo_loss_cases,
    points=3,
    stretch=True,
    verified="Policy and critic move only as far as the clip allows, and a step in the wrong direction can come back.",
    hints=[
        "An action with advantage 1 has become twice as likely. With a clip of 0.2, how much should that gain? And "
        "if its advantage is −1?",
        "PPO is pessimistic: of the product with the ratio and the product with the clipped ratio, the *smaller* gain "
        "counts. For the critic, the *larger* of two squared errors.",
        "ratio = exp(log_p − old_log_p). Gain: the minimum of ratio · A and clamp(ratio, 1 ± clip) · A. Value: the "
        "maximum of (V − R)² and (V_clipped − R)², where V_clipped is within clip of the old value. Loss: −mean "
        "gain + value_weight · ½ · mean error.",
        "`old_values + (values - old_values).clamp(-clip, clip)` are the clipped values.",
    ],
    mistakes=MISTAKES,
)
