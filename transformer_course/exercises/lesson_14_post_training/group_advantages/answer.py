"""The answer to ``group_advantages``, plainly and in steps."""

from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def group_advantages(
    rewards: Float[Tensor, "n_prompts n_samples"], eps: float = 1e-4
) -> Float[Tensor, "n_prompts n_samples"]:
    """Return how far each reward is above the mean of its group, in standard deviations of the group."""
    above = rewards - rewards.mean(dim=1, keepdim=True)
    deviation = above.square().mean(dim=1, keepdim=True).sqrt()
    return above / (deviation + eps)


def baseline(rewards):
    """take the mean of each group

    the mean reward of each group, (n_prompts, 1)
    """
    return rewards.mean(dim=1, keepdim=True)


def above(rewards, baseline):
    """subtract it from the rewards

    how far each reward is above its group's mean, (n_prompts, n_samples)
    """
    return rewards - baseline


def variance(above):
    """average the squares of these differences over each group

    the variance of each group: the mean of the squares, (n_prompts, 1)
    """
    return above.square().mean(dim=1, keepdim=True)


def deviation(variance):
    """take its root

    the standard deviation of each group: the root of its variance
    """
    return variance.sqrt()


def divisor(deviation, eps):
    """add eps to the standard deviation

    the divisor: the standard deviation + eps
    """
    return deviation + eps


def advantages(above, divisor):
    """divide the differences by it

    the advantages: (reward − mean) / (standard deviation + eps)
    """
    return above / divisor


STEPS = InSteps(baseline, above, variance, deviation, divisor, advantages, reference=group_advantages)
