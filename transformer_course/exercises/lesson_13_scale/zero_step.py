"""A step of Adam whose state is sharded across data-parallel workers: ZeRO, stage 1."""

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional as F

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def zero_step(
    parameters: Float[Tensor, " n"],
    gradients: Float[Tensor, "n_workers n"],
    means: Float[Tensor, "n_workers n_shard"],
    mean_squares: Float[Tensor, "n_workers n_shard"],
    step: int,
    rate: float,
) -> tuple[Float[Tensor, " n"], Float[Tensor, "n_workers n_shard"], Float[Tensor, "n_workers n_shard"]]:
    """Return the parameters after a step of Adam, and each worker's shards of the two new running means."""
    n_padding = means.numel() - len(parameters)
    own, gradient = (F.pad(x, (0, n_padding)).view(means.shape) for x in (parameters, gradients.mean(dim=0)))
    means = 0.9 * means + 0.1 * gradient
    mean_squares = 0.999 * mean_squares + 0.001 * gradient**2
    unbiased, unbiased_squares = means / (1 - 0.9**step), mean_squares / (1 - 0.999**step)
    own = own - rate * unbiased / (unbiased_squares.sqrt() + 1e-8)
    return own.flatten()[: len(parameters)], means, mean_squares


def n_padding(means, parameters):
    """count the zeros that pad the last shards → the number of padding zeros"""
    return means.numel() - len(parameters)


def cut(n_padding, means):
    """pad with zeros and split into equal shards → the split into shards: one per worker"""
    return lambda x: F.pad(x, (0, n_padding)).view(means.shape)


def averaged(gradients):
    """average the gradients over the workers → the gradient of the whole batch, (n)"""
    return gradients.mean(dim=0)


def gradient(cut, averaged):
    """split the averaged gradient into shards → the shards of the gradient, (n_workers, n_shard)"""
    return cut(averaged)


def own(cut, parameters):
    """split the parameters into shards → the shards of the parameters, (n_workers, n_shard)"""
    return cut(parameters)


def new_means(means, gradient):
    """update the running mean of the gradient → the new running mean: 0.9 · old + 0.1 · gradient"""
    return 0.9 * means + 0.1 * gradient


def new_mean_squares(mean_squares, gradient):
    """update the running mean square → the new running mean square: 0.999 · old + 0.001 · gradient²"""
    return 0.999 * mean_squares + 0.001 * gradient**2


def unbiased(new_means, step):
    """apply the bias correction to the mean → the corrected mean: divided by 1 − 0.9ˢᵗᵉᵖ"""
    return new_means / (1 - 0.9**step)


def unbiased_squares(new_mean_squares, step):
    """apply the bias correction to the mean square → the corrected mean square: divided by 1 − 0.999ˢᵗᵉᵖ"""
    return new_mean_squares / (1 - 0.999**step)


def update(unbiased, unbiased_squares, rate):
    """divide the mean by the root mean square → the update: rate · mean / (√(mean square) + 10⁻⁸)"""
    return rate * unbiased / (unbiased_squares.sqrt() + 1e-8)


def updated(own, update):
    """subtract the update from each shard → the shards of the new parameters, (n_workers, n_shard)"""
    return own - update


def gathered(updated, parameters):
    """concatenate the shards and drop the padding → the new parameters, (n)"""
    return updated.flatten()[: len(parameters)]


def result(gathered, new_means, new_mean_squares):
    """return the parameters and the new state → the parameters and the new state"""
    return gathered, new_means, new_mean_squares


STEPS = InSteps(
    n_padding, cut, averaged, gradient, own, new_means, new_mean_squares, unbiased, unbiased_squares, update, updated,
    gathered, result, reference=zero_step
)  # fmt: skip


CONSTANTS = ("parameters", "gradients", "means", "mean_squares")
"""Inputs that need no gradient, because an optimizer computes without gradients."""


def zero_step_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, n_workers, step, shows, *, digits=None, size=1.0, unused=()):
        n_shard = -(-n // n_workers)
        parameters, gradients = normal(rng, n), size * (normal(rng, n_workers, n) + normal(rng, n))
        state = torch.zeros(2, n_workers * n_shard)
        if step > 1:
            state[:, :n] = torch.stack([normal(rng, n) / 2, 0.2 + torch.rand(n, generator=rng)])
        if digits is not None:  # rounded, so that the case is easy to do by hand
            parameters, gradients = parameters.round(decimals=digits), gradients.round(decimals=digits)
        gradients[:, unused] = 0.0
        means, mean_squares = state.view(2, n_workers, n_shard)
        inputs = {"parameters": parameters, "gradients": gradients, "means": means, "mean_squares": mean_squares}
        return Case(inputs | {"step": step, "rate": uniform(rng, 0.2, 0.6)}, shows, constants=CONSTANTS)

    return [
        case(2, 1, 1, "one worker, 2 parameters, the first step", digits=1),
        case(4, 2, 1, "2 workers, 4 parameters, the first step", digits=1),
        case(6, 2, 5, "2 workers, 6 parameters, the fifth step"),
        case(5, 2, 3, "2 workers, 5 parameters: a zero pads the last shard"),
        case(6, 3, 1, "3 workers, one parameter with a gradient of 0", unused=[2]),
        case(5, 4, 2, "4 workers, 5 parameters: the last worker has only zeros"),
        case(6, 2, 1, "2 workers, gradients of 0.0001", size=1e-4),
        case(101, 5, 40, "5 workers, 101 parameters, step 40"),
    ]


def own_parts(gradients, cut):
    return torch.stack([cut(gradient)[worker] for worker, gradient in enumerate(gradients)])


def other_decay(beta):
    """Return the steps that use a different decay for the mean of squares and its bias correction."""
    return {
        "new_mean_squares": lambda mean_squares, gradient: beta * mean_squares + (1 - beta) * gradient**2,
        "unbiased_squares": lambda new_mean_squares, step: new_mean_squares / (1 - beta**step),
    }


MISTAKES = [
    Mistake(
        "own_gradients_only",
        STEPS.but(gradient=own_parts),
        summary="you take each worker's shard from its *own* gradient instead of the average",
        message=(
            "{summary}. A worker processes only part of the batch, so the rest of the batch has no effect on its "
            "shard. What should you do before the split?"
        ),
        hints=["If the gradient of worker 1 changes, should the shard of worker 0 change?"],
    ),
    Mistake(
        "every_nth_number",
        STEPS.but(
            cut=lambda n_padding, means: lambda x: F.pad(x, (0, n_padding)).view(means.shape[::-1]).T,
            gathered=lambda updated, parameters: updated.T.flatten()[: len(parameters)],
        ),
        STEPS.but(cut=lambda n_padding, means: lambda x: F.pad(x, (0, n_padding)).view(means.shape[::-1]).T),
        summary="you give each worker every n_workers-th number",
        message=(
            "{summary}, so the numbers don't line up with the rows of `means`. Each worker should get *neighboring* "
            "numbers: worker 0 gets the first n_shard numbers."
        ),
        hints=["With 6 parameters and 2 workers, which parameters does row 0 of `means` describe?"],
    ),
    Mistake(
        "zeros_in_front",
        STEPS.but(
            cut=lambda n_padding, means: lambda x: F.pad(x, (n_padding, 0)).view(means.shape),
            gathered=lambda updated, n_padding: updated.flatten()[n_padding:],
        ),
        STEPS.but(cut=lambda n_padding, means: lambda x: F.pad(x, (n_padding, 0)).view(means.shape)),
        summary="you pad with zeros in front of the numbers instead of behind them",
        message=(
            "You pad with zeros in front of the numbers, so the numbers no longer line up with `means`. Where should "
            "the zeros be?"
        ),
        hints=["Which worker's shard should be padded, the first one's or the last one's?"],
    ),
    Mistake(
        "no_bias_correction",
        STEPS.but(unbiased=lambda new_means: new_means, unbiased_squares=lambda new_mean_squares: new_mean_squares),
        summary="you apply no bias correction",
        message=(
            "{summary}. Both moment estimates start at 0, so after the first step they are only 0.1 · g and 0.001 · "
            "g². What should you divide them by?"
        ),
        hints=["In the first step, what is 0.9 · 0 + 0.1 · g? What should the mean of a single gradient g be?"],
    ),
    Mistake(
        "corrected_means_kept",
        STEPS.but(result=lambda gathered, unbiased, unbiased_squares: (gathered, unbiased, unbiased_squares)),
        summary="you return the *bias-corrected* means as the new state",
        message="{summary}, so the next step corrects them again. Use the bias-corrected means only for the update.",
        hints=["Which means should the next step start with?"],
    ),
    Mistake(
        "old_state_returned",
        STEPS.but(result=lambda gathered, means, mean_squares: (gathered, means, mean_squares)),
        summary="you return the old moment estimates",
        message="{summary}, so this gradient has no effect on later steps. Which means should you return?",
        hints=["Which of your tensors contain the new gradient after the step?"],
    ),
    Mistake(
        "mean_of_the_workers_squares",
        STEPS.but(
            new_mean_squares=lambda mean_squares, gradients, cut: (
                0.999 * mean_squares + 0.001 * cut((gradients**2).mean(dim=0))
            )
        ),
        summary="you square the workers' gradients before you average them",
        message=(
            "{summary}. A single device would square the gradient of the whole batch. Which should come first, "
            "averaging or squaring?"
        ),
        hints=["For the gradients 1 and −1, what is the square of the mean, and what is the mean of the squares?"],
    ),
    Mistake(
        "same_decay_for_both",
        STEPS.but(
            new_mean_squares=lambda mean_squares, gradient: 0.9 * mean_squares + 0.1 * gradient**2,
            unbiased_squares=lambda new_mean_squares, step: new_mean_squares / (1 - 0.9**step),
        ),
        STEPS.but(new_mean_squares=lambda mean_squares, gradient: 0.9 * mean_squares + 0.1 * gradient**2),
        summary="you use 0.9 for the mean square instead of 0.999",
        message=(
            "{summary}, so the mean square averages over about 10 steps instead of about 1,000. Adam uses a separate "
            "decay rate, β₂, for the squared gradients."
        ),
        hints=["How much of a new squared gradient should go into the running mean square?"],
    ),
    Mistake(
        "old_and_new_exchanged",
        STEPS.but(new_means=lambda means, gradient: 0.1 * means + 0.9 * gradient),
        STEPS.but(
            new_means=lambda means, gradient: 0.1 * means + 0.9 * gradient,
            new_mean_squares=lambda mean_squares, gradient: 0.001 * mean_squares + 0.999 * gradient**2,
        ),
        summary="you swap the weights of the old mean and the new gradient",
        message=(
            "{summary}, so a single batch decides most of the running mean. A running mean should change slowly: which "
            "weight should the old mean have?"
        ),
        hints=["With a running mean of 1 and a gradient of 0, should the new mean be 0.9 or 0.1?"],
    ),
    Mistake(
        "epsilon_under_the_root",
        STEPS.but(update=lambda unbiased, unbiased_squares, rate: rate * unbiased / (unbiased_squares + 1e-8).sqrt()),
        summary="you add 10⁻⁸ inside the square root",
        message=(
            "{summary}. √10⁻⁸ is 10⁻⁴, ten thousand times larger than intended. Add 10⁻⁸ after you take the root."
        ),
        hints=["What is √(0.0001² + 10⁻⁸), and what is √(0.0001²) + 10⁻⁸?"],
    ),
    Mistake(
        "another_decay_for_the_squares",
        *[STEPS.but(**other_decay(beta)) for beta in (0.99, 0.98, 0.95)],
        *[STEPS.but(new_mean_squares=other_decay(beta)["new_mean_squares"]) for beta in (0.99, 0.98, 0.95)],
        summary="you use a decay rate other than 0.999 for the mean square",
        message=(
            "{summary}. Large models are often trained with a smaller β₂, but here it is 0.999: the new square has "
            "weight 0.001."
        ),
        hints=["How much of a new squared gradient should go into the running mean square?"],
    ),
]


EXERCISE = Exercise(
    reference=zero_step,
    steps=STEPS,
    cases=zero_step_cases,
    points=4,
    stretch=True,
    verified="Your parameters are those of Adam on one device, and each worker keeps only its own part of the state, "
    "even if the parameters can't be split into equal parts.",
    hints=[
        "With 5 parameters and 2 workers, which parameters does each worker update, and how many zeros pad the last "
        "shard?",
        "There are four parts: average the gradients over the workers, split the average and the parameters into "
        "shards, take Adam's step on each shard, and concatenate the shards of the parameters.",
        "Adam works on a shard as on the whole: update both running means, then divide each by 1 − βˢᵗᵉᵖ. Use the "
        "corrected means for the update, and return the uncorrected means.",
        "`F.pad(x, (0, k)).view(n_workers, n_shard)` puts k zeros behind x and splits it. `x.flatten()[:n]` "
        "concatenates the shards and drops the zeros.",
    ],
    messages={
        "sibling_averaged: gradients.sum(dim=0)": Wording(
            (
                "{summary}. Adam's update barely changes because it doesn't depend on the scale of the gradient, but "
                "the moment estimates you return are wrong."
            ),
            summary="you add up the workers' gradients instead of averaging them",
            hints=["If two workers have the same gradient, what is the gradient of the whole batch?"],
        ),
        "part_left_out_unbiased_squares: 1": Wording(
            "{summary}. `mean_squares` starts at 0, so after the first step it is only 0.001 · g². What should you "
            "divide it by?",
            summary="you don't apply the bias correction to the running mean square",
        ),
        "part_left_out_unbiased: 1": Wording(
            "{summary}. `means` starts at 0, so after the first step it is only 0.1 · g. What should you divide it by?",
            summary="you don't apply the bias correction to the running mean",
        ),
        "not_indexed_gathered": Wording(
            "{summary}, so you return more parameters than you got. With 5 parameters, how many should you return?",
            summary="you don't drop the zeros that pad the last shard",
        ),
        "shifted_step: step + 1": Wording(
            "{summary} in the bias correction, but `step` already starts at 1. The first step then divides by 1 − "
            "0.9² = 0.19 instead of 0.1.",
            summary="you use `step + 1` instead of `step`",
            hints=["In the first step, `step` is 1. What should 1 − βˢᵗᵉᵖ be?"],
        ),
        "shifted_step: step - 1": Wording(
            "{summary} in the bias correction, but `step` already starts at 1. The first step then divides by 1 − β⁰ "
            "= 0.",
            summary="you use `step - 1` instead of `step`",
            hints=["In the first step, `step` is 1. What should 1 − βˢᵗᵉᵖ be?"],
        ),
        "call_left_out_update: unbiased_squares": Wording(
            "{summary}, so the size of a step depends on the scale of the gradient: with gradients ten times as "
            "large, your steps are a tenth of the size.",
            summary="you divide by the mean square instead of its square root",
        ),
        "part_left_out_new_mean_squares: gradient": Wording(
            "You update the mean square with the gradient, so the mean square can become negative, and its square root "
            "is nan. Which numbers should a mean *square* average?",
            summary="you update the mean square with the gradient instead of its square",
        ),
        "call_left_out_averaged: gradients": Wording(
            "{summary}, so you still have one gradient per worker. Which `dim` of `gradients` counts the workers?",
            summary="you never average the gradients over the workers",
        ),
        "call_left_out_gathered: updated": Wording(
            "{summary}. The next forward pass needs all parameters on every worker, which takes an all-gather.",
            summary="you return the parameters in shards",
            hints=["Which shape should the first of the three returned values have?"],
        ),
        "operator_updated: (own) + (update)": Wording(
            "{summary}. The gradient points in the direction in which the loss increases, so your steps make the loss "
            "larger.",
            summary="you add the update to the parameters instead of subtracting it",
            hints=["If the gradient is positive, should the parameter grow?"],
        ),
    },
    mistakes=MISTAKES,
)
