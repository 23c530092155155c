"""The advantages of GRPO, which compare each sample with the other samples for its prompt."""

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
    """subtract the group's mean from the rewards → the differences from the mean, (n_prompts, n_samples)"""
    return rewards - baseline


def variance(above):
    """average the squares over each group → the variance of each group: the mean of the squares, (n_prompts, 1)"""
    return above.square().mean(dim=1, keepdim=True)


def deviation(variance):
    """take the square root of the variance → the standard deviation of each group: √variance"""
    return variance.sqrt()


def divisor(deviation, eps):
    """add `eps` to the standard deviation → the divisor: the standard deviation + eps"""
    return deviation + eps


def advantages(above, divisor):
    """divide the differences by the divisor → the advantages: (reward − mean) / (standard deviation + eps)"""
    return above / divisor


STEPS = InSteps(baseline, above, variance, deviation, divisor, advantages, reference=group_advantages)


def group_advantages_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def some_right(n_prompts, n_samples, shows):
        """Draw rewards of 0 and 1 so that every row contains both values."""
        rewards = (torch.rand(n_prompts, n_samples, generator=rng) < 0.6).float()
        rewards[:, 0], rewards[:, 1] = 1.0, 0.0
        return Case({"rewards": rewards, "eps": 1e-4}, shows)

    easy = some_right(3, 5, "a prompt whose samples are all right, and one whose samples are all wrong")
    easy.inputs["rewards"][0], easy.inputs["rewards"][2] = 1.0, 0.0
    easy.inputs["eps"] = 0.1  # after division by 0.0001, the rounding error of a mean would be visible
    return [
        Case({"rewards": torch.tensor([[1.0, 0.0]]), "eps": 0.0001}, "one prompt: a right and a wrong sample"),
        Case({"rewards": torch.tensor([[3.0, 1.0, 1.0, 1.0]]), "eps": 0.5}, "one prompt, 4 samples, an eps of 0.5"),
        some_right(2, 4, "2 prompts, 4 samples each"),
        easy,
        Case({"rewards": 2 + 3 * normal(rng, 4, 6), "eps": 0.3}, "rewards that are not 0 and 1"),
        some_right(7, 13, "7 prompts, 13 samples each"),
    ]


def normalized_again(correction, adds_eps):
    """Return the step that subtracts the mean of all advantages and divides by their standard deviation."""
    return lambda advantages, eps: (
        (advantages - advantages.mean()) / (advantages.std(correction=correction) + adds_eps * eps)
    )


def constant(number):
    return lambda: number


MISTAKES = [
    Mistake(
        "groups_down_the_columns",
        STEPS.but(
            baseline=lambda rewards: rewards.mean(dim=0, keepdim=True),
            variance=lambda above: above.square().mean(dim=0, keepdim=True),
        ),
        summary="you take the mean and the standard deviation over the prompts instead of the samples",
        message=(
            "{summary}, so you compare samples of different prompts. Each *row* is a group. Which `dim` runs along a "
            "row?"
        ),
        hints=["In the shape (n_prompts, n_samples), which dimension counts the samples of one prompt?"],
    ),
    Mistake(
        "compares_with_the_others",
        STEPS.but(advantages=lambda advantages, rewards: advantages * rewards.shape[1] / (rewards.shape[1] - 1)),
        summary="you compare each reward with the mean of the *other* samples of its group",
        message="{summary}, which is the baseline of RLOO. Here the mean includes all samples of the group.",
        hints=["For the rewards 3, 1, 1 and 1, what is the mean of the group, and what do you subtract from the 3?"],
    ),
    Mistake(
        "deviation_of_the_batch",
        STEPS.but(deviation=lambda rewards: rewards.std(correction=0)),
        STEPS.but(deviation=lambda rewards: rewards.std()),
        summary="you take the standard deviation of the whole batch instead of each group",
        message=(
            "{summary}, so the advantages of one prompt depend on the rewards of other prompts. Which shape should the "
            "standard deviations have?"
        ),
        hints=["If you add a prompt to the batch, should the advantages of the other prompts change?"],
    ),
    Mistake(
        "deviation_over_the_prompts",
        STEPS.but(deviation=lambda rewards: rewards.std(dim=0, keepdim=True, correction=0)),
        STEPS.but(deviation=lambda rewards: rewards.std(dim=0, keepdim=True)),
        summary="you take the standard deviation over the prompts instead of the samples",
        message="{summary}, so you mix different prompts. Each *row* is a group. Which `dim` runs along a row?",
        hints=["In the shape (n_prompts, n_samples), which dimension counts the samples of one prompt?"],
    ),
    Mistake(
        "normalizes_again",
        *[
            STEPS.but(advantages=normalized_again(correction, adds_eps))
            for correction in (0, 1)
            for adds_eps in (True, False)
        ],
        summary="you normalize the advantages a second time, over the whole batch",
        message=(
            "{summary}, so the advantages of one prompt depend on the rewards of other prompts. GRPO normalizes only "
            "within each group."
        ),
        hints=["If you add a prompt to the batch, should the advantages of the other prompts change?"],
    ),
    Mistake(
        "fixed_eps",
        *[STEPS.but(eps=constant(number)) for number in (1e-8, 1e-6, 1e-5, 1e-4, 1e-3, 1e-12)],
        summary="you add a fixed number instead of the argument `eps`",
        message=(
            "{summary}, so your result is the same for every `eps`. In one of the cases, `eps` is 0.5. Which number in "
            "your code should be `eps`?"
        ),
        hints=["Does your result change if `eps` changes?"],
    ),
    Mistake(
        "divides_by_one_plus_eps",
        STEPS.but(divisor=lambda eps: 1 + eps),
        summary="you divide by 1 + eps instead of the standard deviation plus eps",
        message=(
            "{summary}, so the advantages grow with the spread of the rewards. For the rewards 3, 1, 1 and 1, what is "
            "the standard deviation?"
        ),
        hints=["If all differences in a group become ten times larger, should its advantages change?"],
    ),
]


EXERCISE = Exercise(
    reference=group_advantages,
    steps=STEPS,
    cases=group_advantages_cases,
    points=2,
    verified="A sample gains if it is better than the rest of its group and loses if it is worse. A group of equal "
    "rewards teaches nothing.",
    hints=[
        "A group has the rewards 3, 1, 1 and 1. How far is each of them above the mean, and what is the mean of the "
        "squares of these differences?",
        "Each row is a group. The variance is the mean of the squared differences from its mean, and the standard "
        "deviation is the square root of the variance.",
        "`rewards.mean(dim=1, keepdim=True)` is a column, so you can subtract it from its own rows.",
        "Divide the differences by `deviation + eps`.",
    ],
    messages={
        "all_axes_baseline": Wording(
            "{summary}, so every sample of an easy prompt gains, and every sample of a hard prompt loses.",
            summary="you take the mean of the whole batch instead of each group",
            hints=["If all samples of a prompt are right, what should their advantages be?"],
        ),
        "mean_by_variance: above.square().sum(dim=1, keepdim=True) / (above.square().shape[-1] - 1)": Wording(
            (
                "{summary}, as torch's `std` does unless you pass `correction=0`. In this exercise, divide by the "
                "number of samples."
            ),
            summary="you divide the sum of the squares by one less than the number of samples",
            hints=["For the rewards 1 and 0, what is the mean of the squared differences, and what is your variance?"],
        ),
        "call_left_out_deviation": Wording(
            "{summary}. For the rewards 3, 1, 1 and 1, you divide by 0.75 + eps instead of 0.87 + eps.",
            summary="you divide by the variance instead of the standard deviation",
        ),
        "part_left_out_divisor: deviation": Wording(
            "{summary}. If all rewards of a group are equal, you divide 0 by 0, and the loss becomes nan.",
            summary="you don't add `eps`",
            hints=["What are the mean and the standard deviation of 1, 1, 1, 1?"],
        ),
        "moved_deviation: divisor": Wording(
            "{summary}. With a variance of 0.75 and eps = 0.5, you divide by √1.25 = 1.12. You should divide by "
            "√0.75 + 0.5 = 1.37.",
            summary="you add `eps` to the variance, inside the square root",
        ),
        "moved_divisor: advantages": Wording(
            "{summary}. If all rewards of a group are equal, you divide 0 by 0 and get nan. What should you add `eps` "
            "to?",
            summary="you add `eps` to the advantages",
        ),
        "all_axes_variance": Wording(
            "{summary}, so the advantages of one prompt depend on the rewards of other prompts. Which `dim` "
            "runs along a group?",
            summary="you average the squared differences over the whole batch instead of each group",
        ),
        "axis_baseline": Wording(
            "{summary}, so you compare each sample with samples of other prompts. Which `dim` runs along a group?",
            summary="you take the mean over the prompts instead of the samples",
        ),
        "axis_variance": Wording(
            "{summary}, so you mix different prompts. Each *row* is a group. Which `dim` runs along a row?",
            summary="you average the squared differences over the prompts instead of the samples",
        ),
        "part_left_out_advantages: above": Wording(
            "{summary}, so rewards that are ten times as far apart get advantages ten times as large.",
            summary="you don't divide by the standard deviation",
        ),
    },
    mistakes=MISTAKES,
)
