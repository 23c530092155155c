"""What goes wrong when rewards are compared within their group."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_14_post_training.group_advantages.answer import STEPS

MISTAKES = [
    Mistake(
        "mean_of_the_batch",
        STEPS.but(baseline=lambda rewards: rewards.mean()),
        does="the mean is taken of the whole batch, not of each group",
        says="{does}. Then every sample of an easy prompt gains, and every one of a hard prompt loses.",
        hints=["Of a prompt whose samples are all right, what should the advantages be?"],
    ),
    Mistake(
        "groups_down_the_columns",
        STEPS.but(
            baseline=lambda rewards: rewards.mean(dim=0, keepdim=True),
            variance=lambda above: above.square().mean(dim=0, keepdim=True),
        ),
        does="mean and deviation run over the prompts, not over the samples of one prompt",
        says="{does}. Each *row* is a group.",
        hints=["In (n_prompts, n_samples), which axis are the samples of one prompt?"],
    ),
    Mistake(
        "deviation_of_a_sample",
        STEPS.but(variance=lambda rewards, above: above.square().sum(dim=1, keepdim=True) / (rewards.shape[1] - 1)),
        does="the squares are divided by one less than the number of samples",
        says=(
            "The standard deviation is the statistician's: torch's `std` divides by one less than the number of "
            "samples. Here the mean runs over all of them: `correction=0`."
        ),
        hints=["What does torch's `std` say about its argument `correction`?"],
    ),
    Mistake(
        "only_the_differences",
        STEPS.but(advantages=lambda above: above),
        does="the differences are not divided by the standard deviation",
    ),
    Mistake(
        "divides_by_the_variance",
        STEPS.but(deviation=lambda variance: variance),
        does="the differences are divided by the variance, not by its root",
    ),
    Mistake(
        "without_eps",
        STEPS.but(divisor=lambda deviation: deviation),
        does="eps is not added",
        says="{does}. Where all rewards of a group are equal, 0 is divided by 0, and the loss becomes `nan`.",
        hints=["What are mean and standard deviation of 1, 1, 1, 1?"],
    ),
    Mistake(
        "eps_under_the_root",
        STEPS.but(deviation=lambda variance, eps: (variance + eps).sqrt(), divisor=lambda deviation: deviation),
        does="eps is added to the variance, under the root",
    ),
    Mistake(
        "compares_with_the_others",
        STEPS.but(advantages=lambda advantages, rewards: advantages * rewards.shape[1] / (rewards.shape[1] - 1)),
        does="each reward is compared with the mean of the *other* samples of its group",
        says="{does}. That exists (RLOO); here the mean is that of the whole group.",
    ),
]
