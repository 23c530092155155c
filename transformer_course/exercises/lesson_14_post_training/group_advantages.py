"""The advantages of GRPO: each sample is compared with the other samples of its prompt."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def group_advantages(
    rewards: Float[Tensor, "n_prompts n_samples"], eps: float = 1e-4
) -> Float[Tensor, "n_prompts n_samples"]:
    """Return how far each reward is above the mean of its group, in standard deviations of the group."""
    above = rewards - rewards.mean(dim=1, keepdim=True)
    deviation = above.square().mean(dim=1, keepdim=True).sqrt()
    return above / (deviation + eps)


def baseline(rewards):
    """take the mean of each group → the mean reward of each group, (n_prompts, 1)"""
    return rewards.mean(dim=1, keepdim=True)


def above(rewards, baseline):
    """subtract it from the rewards → how far each reward is above its group's mean, (n_prompts, n_samples)"""
    return rewards - baseline


def variance(above):
    """average the squares over each group → the variance of each group: the mean of the squares, (n_prompts, 1)"""
    return above.square().mean(dim=1, keepdim=True)


def deviation(variance):
    """take its root → the standard deviation of each group: the root of its variance"""
    return variance.sqrt()


def divisor(deviation, eps):
    """add eps to the standard deviation → the divisor: the standard deviation + eps"""
    return deviation + eps


def advantages(above, divisor):
    """divide the differences by it → the advantages: (reward − mean) / (standard deviation + eps)"""
    return above / divisor


STEPS = InSteps(baseline, above, variance, deviation, divisor, advantages, reference=group_advantages)


def group_advantages_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def some_right(n_prompts, n_samples, shows):
        """Draw rewards of 0 and 1, of which no row has only one kind."""
        rewards = (torch.rand(n_prompts, n_samples, generator=rng) < 0.6).float()
        rewards[:, 0], rewards[:, 1] = 1.0, 0.0
        return Case({"rewards": rewards, "eps": 1e-4}, shows)

    easy = some_right(3, 5, "a prompt whose samples are all right, and one whose samples are all wrong")
    easy.inputs["rewards"][0], easy.inputs["rewards"][2] = 1.0, 0.0
    easy.inputs["eps"] = 0.1  # divided by 0.0001, the rounding of a mean would count
    return [
        Case({"rewards": torch.tensor([[1.0, 0.0]]), "eps": 0.0001}, "one prompt: a right and a wrong sample"),
        Case({"rewards": torch.tensor([[3.0, 1.0, 1.0, 1.0]]), "eps": 0.5}, "one prompt, 4 samples, an eps of 0.5"),
        some_right(2, 4, "2 prompts, 4 samples each"),
        easy,
        Case({"rewards": 2 + 3 * normal(rng, 4, 6), "eps": 0.3}, "rewards that are not 0 and 1"),
        some_right(7, 13, "7 prompts, 13 samples each"),
    ]


MISTAKES = [
    Mistake(
        "groups_down_the_columns",
        STEPS.but(
            baseline=lambda rewards: rewards.mean(dim=0, keepdim=True),
            variance=lambda above: above.square().mean(dim=0, keepdim=True),
        ),
        summary="mean and deviation run over the prompts, not over the samples of one prompt",
        message="{summary}. Each *row* is a group.",
        hints=["In (n_prompts, n_samples), which axis are the samples of one prompt?"],
    ),
    Mistake(
        "compares_with_the_others",
        STEPS.but(advantages=lambda advantages, rewards: advantages * rewards.shape[1] / (rewards.shape[1] - 1)),
        summary="each reward is compared with the mean of the *other* samples of its group",
        message="{summary}. That exists (RLOO); here the mean is that of the whole group.",
    ),
]


EXERCISE = Exercise(
    reference=group_advantages,
    steps=STEPS,
    cases=group_advantages_cases,
    points=2,
    verified="What is better than the rest of its group gains and what is worse loses, and a group in which all are "
    "equal teaches nothing.",
    hints=[
        "Each row is a group: take its mean, and keep the axis, so that it can be subtracted from its own row.",
        "The variance of a group is the mean of the squares of these differences; its root is the standard deviation.",
        "Divide the differences by the standard deviation plus eps.",
    ],
    messages={
        "all_axes_baseline": Wording(
            "{summary}. Then every sample of an easy prompt gains, and every one of a hard prompt loses.",
            summary="the mean is taken of the whole batch, not of each group",
            hints=["Of a prompt whose samples are all right, what should the advantages be?"],
        ),
        "mean_by_variance: above.square().sum(dim=1, keepdim=True) / (above.square().shape[-1] - 1)": Wording(
            "The standard deviation is the statistician's: torch's `std` divides by one less than the number of "
            "samples. Here the mean runs over all of them: `correction=0`.",
            summary="the squares are divided by one less than the number of samples",
            hints=["What does torch's `std` say about its argument `correction`?"],
        ),
        "call_left_out_deviation": Wording(summary="the differences are divided by the variance, not by its root"),
        "part_left_out_divisor: deviation": Wording(
            "{summary}. Where all rewards of a group are equal, 0 is divided by 0, and the loss becomes `nan`.",
            summary="eps is not added",
            hints=["What are mean and standard deviation of 1, 1, 1, 1?"],
        ),
        "moved_deviation: divisor": Wording(summary="eps is added to the variance, under the root"),
        "part_left_out_advantages: above": Wording(summary="the differences are not divided by the standard deviation"),
    },
    mistakes=MISTAKES,
)
