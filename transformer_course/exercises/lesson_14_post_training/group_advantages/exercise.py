"""The advantages of GRPO: each sample is compared with the other samples of its prompt."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_14_post_training.group_advantages.answer import STEPS, group_advantages
from transformer_course.exercises.lesson_14_post_training.group_advantages.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


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


GROUP_ADVANTAGES = Exercise(
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
    mistakes=MISTAKES,
)
