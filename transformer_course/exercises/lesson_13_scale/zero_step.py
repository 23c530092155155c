"""A step of Adam whose state is cut up among the workers of data parallelism: ZeRO, stage 1."""

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
    """count the zeros that fill up the last shards → the number of zeros that fill up the last shards"""
    return means.numel() - len(parameters)


def cut(n_padding, means):
    """pad with zeros, and cut into equal shards → what cuts numbers into shards, one for each worker"""
    return lambda x: F.pad(x, (0, n_padding)).view(means.shape)


def averaged(gradients):
    """average the gradients over the workers → the gradient of the whole batch, (n)"""
    return gradients.mean(dim=0)


def gradient(cut, averaged):
    """cut the averaged gradient into shards → each worker's shard of the averaged gradient, (n_workers, n_shard)"""
    return cut(averaged)


def own(cut, parameters):
    """cut the parameters into shards → each worker's shard of the parameters, (n_workers, n_shard)"""
    return cut(parameters)


def new_means(means, gradient):
    """update the running mean of the gradient → the new running mean of the gradient: 0.9 · old + 0.1 · gradient"""
    return 0.9 * means + 0.1 * gradient


def new_mean_squares(mean_squares, gradient):
    """update the running mean square → the new running mean square: 0.999 · old + 0.001 · gradient²"""
    return 0.999 * mean_squares + 0.001 * gradient**2


def unbiased(new_means, step):
    """correct the mean for its start at 0 → the corrected mean: divided by 1 − 0.9ˢᵗᵉᵖ"""
    return new_means / (1 - 0.9**step)


def unbiased_squares(new_mean_squares, step):
    """correct the mean square for its start at 0 → the corrected mean square: divided by 1 − 0.999ˢᵗᵉᵖ"""
    return new_mean_squares / (1 - 0.999**step)


def update(unbiased, unbiased_squares, rate):
    """divide the mean by the root mean square → the update: rate · mean / (√(mean square) + 10⁻⁸)"""
    return rate * unbiased / (unbiased_squares.sqrt() + 1e-8)


def updated(own, update):
    """take the step on each shard → each worker's shard of the new parameters, (n_workers, n_shard)"""
    return own - update


def gathered(updated, parameters):
    """put the shards together, and drop the zeros → the new parameters, (n)"""
    return updated.flatten()[: len(parameters)]


def result(gathered, new_means, new_mean_squares):
    """return the parameters and the new state → the new parameters, and the shards of the two running means"""
    return gathered, new_means, new_mean_squares


STEPS = InSteps(
    n_padding, cut, averaged, gradient, own, new_means, new_mean_squares, unbiased, unbiased_squares, update, updated,
    gathered, result, reference=zero_step
)  # fmt: skip


CONSTANTS = ("parameters", "gradients", "means", "mean_squares")
"""An optimizer computes without gradients."""


def zero_step_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, n_workers, step, shows, *, digits=None, size=1.0, unused=()):
        n_shard = -(-n // n_workers)
        parameters, gradients = normal(rng, n), size * (normal(rng, n_workers, n) + normal(rng, n))
        state = torch.zeros(2, n_workers * n_shard)
        if step > 1:
            state[:, :n] = torch.stack([normal(rng, n) / 2, 0.2 + torch.rand(n, generator=rng)])
        if digits is not None:  # to work by hand
            parameters, gradients = parameters.round(decimals=digits), gradients.round(decimals=digits)
        gradients[:, unused] = 0.0
        means, mean_squares = state.view(2, n_workers, n_shard)
        inputs = {"parameters": parameters, "gradients": gradients, "means": means, "mean_squares": mean_squares}
        return Case(inputs | {"step": step, "rate": uniform(rng, 0.2, 0.6)}, shows, constants=CONSTANTS)

    return [
        case(2, 1, 1, "one worker, 2 parameters, the first step", digits=1),
        case(4, 2, 1, "2 workers, 4 parameters, the first step", digits=1),
        case(6, 2, 5, "2 workers, 6 parameters, the fifth step"),
        case(5, 2, 3, "2 workers, 5 parameters: a zero fills up the last shard"),
        case(6, 3, 1, "3 workers, and a parameter whose gradient is 0", unused=[2]),
        case(5, 4, 2, "4 workers, 5 parameters: the last worker has zeros alone"),
        case(6, 2, 1, "2 workers, gradients of 0.0001", size=1e-4),
        case(101, 5, 40, "5 workers, 101 parameters, step 40"),
    ]


def own_parts(gradients, cut):
    return torch.stack([cut(gradient)[worker] for worker, gradient in enumerate(gradients)])


MISTAKES = [
    Mistake(
        "own_gradients_only",
        STEPS.but(gradient=own_parts),
        summary="each worker takes its shard from its *own* gradient, not from that of the whole batch",
        message="{summary}. A worker has seen a part of the batch alone: its shard needs what all of them found.",
        hints=["Does worker 0's shard change when the gradient of worker 1 does?"],
    ),
    Mistake(
        "every_nth_number",
        STEPS.but(
            cut=lambda n_padding, means: lambda x: F.pad(x, (0, n_padding)).view(means.shape[::-1]).T,
            gathered=lambda updated, parameters: updated.T.flatten()[: len(parameters)],
        ),
        STEPS.but(cut=lambda n_padding, means: lambda x: F.pad(x, (0, n_padding)).view(means.shape[::-1]).T),
        summary="the numbers are dealt out in turn, one to each worker",
        message="{summary}. Each worker's state belongs to *neighboring* numbers: worker 0 has the first n_shard.",
        hints=["6 parameters, 2 workers: to which parameters does row 0 of `means` belong?"],
    ),
    Mistake(
        "zeros_in_front",
        STEPS.but(
            cut=lambda n_padding, means: lambda x: F.pad(x, (n_padding, 0)).view(means.shape),
            gathered=lambda updated, n_padding: updated.flatten()[n_padding:],
        ),
        STEPS.but(cut=lambda n_padding, means: lambda x: F.pad(x, (n_padding, 0)).view(means.shape)),
        summary="the zeros stand in front of the numbers, not behind them",
        message="{summary}: every number moves to another place, and meets the state of another one.",
        hints=["Which worker's shard is filled up, the first one's or the last one's?"],
    ),
    Mistake(
        "no_bias_correction",
        STEPS.but(unbiased=lambda new_means: new_means, unbiased_squares=lambda new_mean_squares: new_mean_squares),
        summary="neither mean is corrected for its start at 0",
        message="{summary}. In the first step they are a tenth and a thousandth of what they should be.",
        hints=["In the first step, what is 0.9 · 0 + 0.1 · g? And what should the mean of a single g be?"],
    ),
    Mistake(
        "corrected_means_kept",
        STEPS.but(result=lambda gathered, unbiased, unbiased_squares: (gathered, unbiased, unbiased_squares)),
        summary="the *corrected* means are returned as the new state",
        message="{summary}, so the next step corrects them once more. Correct them for the step alone.",
        hints=["Which means does the next step begin with?"],
    ),
    Mistake(
        "old_state_returned",
        STEPS.but(result=lambda gathered, means, mean_squares: (gathered, means, mean_squares)),
        summary="the old running means are returned",
        message="{summary}: the optimizer forgets each gradient after its step.",
        hints=["What do the workers hold after the step that they did not hold before it?"],
    ),
    Mistake(
        "mean_of_the_workers_squares",
        STEPS.but(
            new_mean_squares=lambda mean_squares, gradients, cut: (
                0.999 * mean_squares + 0.001 * cut((gradients**2).mean(dim=0))
            )
        ),
        summary="the workers' gradients are squared before they are averaged",
        message="{summary}. One device would square the gradient of the whole batch, so average first.",
        hints=["Gradients of 1 and −1: what is the square of their mean, and what the mean of their squares?"],
    ),
    Mistake(
        "same_decay_for_both",
        STEPS.but(
            new_mean_squares=lambda mean_squares, gradient: 0.9 * mean_squares + 0.1 * gradient**2,
            unbiased_squares=lambda new_mean_squares, step: new_mean_squares / (1 - 0.9**step),
        ),
        STEPS.but(new_mean_squares=lambda mean_squares, gradient: 0.9 * mean_squares + 0.1 * gradient**2),
        summary="of the mean square, too, 0.9 is kept, not 0.999",
    ),
    Mistake(
        "old_and_new_exchanged",
        STEPS.but(new_means=lambda means, gradient: 0.1 * means + 0.9 * gradient),
        STEPS.but(
            new_means=lambda means, gradient: 0.1 * means + 0.9 * gradient,
            new_mean_squares=lambda mean_squares, gradient: 0.001 * mean_squares + 0.999 * gradient**2,
        ),
        summary="the running mean takes most from the new gradient, not from the old mean",
        message="{summary}. It should change slowly: one batch says little.",
        hints=["With a mean of 1 and a gradient of 0, is the new mean 0.9 or 0.1?"],
    ),
    Mistake(
        "epsilon_under_the_root",
        STEPS.but(update=lambda unbiased, unbiased_squares, rate: rate * unbiased / (unbiased_squares + 1e-8).sqrt()),
        summary="the tiny number is added under the root",
        message="{summary}, where it is not tiny: the root of 10⁻⁸ is 0.0001.",
        hints=["What is the root of 0.0001² + 10⁻⁸? And the root of 0.0001², plus 10⁻⁸?"],
    ),
]


EXERCISE = Exercise(
    reference=zero_step,
    steps=STEPS,
    cases=zero_step_cases,
    points=4,
    verified="The parameters are those of Adam on one device, and each worker kept its own part of the state alone, "
    "also where the parameters could not be cut into equal parts.",
    hints=[
        "Four parts: average the gradients over the workers; cut the average and the parameters into shards; take "
        "Adam's step on each shard; put the shards of the parameters together.",
        "Worker 0 has the first n_shard numbers, worker 1 the next. `F.pad(x, (0, k))` puts k zeros behind x, and "
        "`.view(n_workers, n_shard)` cuts it up.",
        "Adam is the same on a shard as on the whole: both running means first, then each divided by 1 − βˢᵗᵉᵖ. Use "
        "the corrected means for the step, and return the others.",
        "`x.flatten()[:n]` puts the shards together and drops what was filled up.",
    ],
    messages={
        "sibling_averaged: gradients.sum(dim=0)": Wording(
            "{summary}. Adam's step hides that, as it does not depend on the size of the gradient; its state shows it.",
            summary="the workers' gradients are added up, not averaged",
            hints=["Two workers with the same gradient: what is the gradient of the whole batch?"],
        ),
        "not_indexed_gathered": Wording(summary="the zeros that filled up the last shard are returned as parameters"),
        "call_left_out_gathered: updated": Wording(
            "{summary}. The next forward pass needs all of them on every worker: that is the all-gather.",
            summary="the parameters are returned in shards",
            hints=["What shape has the first of the three values that are asked for?"],
        ),
        "operator_updated: (own) + (update)": Wording(
            "{summary}. The gradient points to where the loss grows.",
            summary="the step is added to the parameters, not subtracted",
            hints=["With a positive gradient, should the parameter grow?"],
        ),
    },
    mistakes=MISTAKES,
)
