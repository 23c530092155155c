"""What goes wrong when the optimizer's state is cut up among workers."""

import torch
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.zero_step.answer import STEPS


def own_parts(gradients, cut):
    return torch.stack([cut(gradient)[worker] for worker, gradient in enumerate(gradients)])


MISTAKES = [
    Mistake(
        "own_gradients_only",
        STEPS.but(gradient=own_parts),
        does="each worker takes its shard from its *own* gradient, not from that of the whole batch",
        says="{does}. A worker has seen a part of the batch alone: its shard needs what all of them found.",
        hints=["Does worker 0's shard change when the gradient of worker 1 does?"],
    ),
    Mistake(
        "sum_over_the_workers",
        STEPS.but(averaged=lambda gradients: gradients.sum(dim=0)),
        does="the workers' gradients are added up, not averaged",
        says="{does}. Adam's step hides that, as it does not depend on the size of the gradient; its state shows it.",
        hints=["Two workers with the same gradient: what is the gradient of the whole batch?"],
    ),
    Mistake(
        "every_nth_number",
        STEPS.but(
            cut=lambda n_padding, means: lambda x: F.pad(x, (0, n_padding)).view(means.shape[::-1]).T,
            gathered=lambda updated, parameters: updated.T.flatten()[: len(parameters)],
        ),
        STEPS.but(cut=lambda n_padding, means: lambda x: F.pad(x, (0, n_padding)).view(means.shape[::-1]).T),
        does="the numbers are dealt out in turn, one to each worker",
        says="{does}. Each worker's state belongs to *neighbouring* numbers: worker 0 has the first n_shard.",
        hints=["6 parameters, 2 workers: to which parameters does row 0 of `means` belong?"],
    ),
    Mistake(
        "zeros_in_front",
        STEPS.but(
            cut=lambda n_padding, means: lambda x: F.pad(x, (n_padding, 0)).view(means.shape),
            gathered=lambda updated, n_padding: updated.flatten()[n_padding:],
        ),
        STEPS.but(cut=lambda n_padding, means: lambda x: F.pad(x, (n_padding, 0)).view(means.shape)),
        does="the zeros stand in front of the numbers, not behind them",
        says="{does}: every number moves to another place, and meets the state of another one.",
        hints=["Which worker's shard is filled up, the first one's or the last one's?"],
    ),
    Mistake(
        "zeros_returned",
        STEPS.but(gathered=lambda updated: updated.flatten()),
        does="the zeros that filled up the last shard are returned as parameters",
    ),
    Mistake(
        "parameters_left_in_shards",
        STEPS.but(gathered=lambda updated: updated),
        does="the parameters are returned in shards",
        says="{does}. The next forward pass needs all of them on every worker: that is the all-gather.",
        hints=["What shape has the first of the three values that are asked for?"],
    ),
    Mistake(
        "no_bias_correction",
        STEPS.but(unbiased=lambda new_means: new_means, unbiased_squares=lambda new_mean_squares: new_mean_squares),
        does="neither mean is corrected for its start at 0",
        says="{does}. In the first step they are a tenth and a thousandth of what they should be.",
        hints=["In the first step, what is 0.9 · 0 + 0.1 · g? And what should the mean of a single g be?"],
    ),
    Mistake(
        "corrected_means_kept",
        STEPS.but(result=lambda gathered, unbiased, unbiased_squares: (gathered, unbiased, unbiased_squares)),
        does="the *corrected* means are returned as the new state",
        says="{does}, so the next step corrects them once more. Correct them for the step alone.",
        hints=["Which means does the next step begin with?"],
    ),
    Mistake(
        "old_state_returned",
        STEPS.but(result=lambda gathered, means, mean_squares: (gathered, means, mean_squares)),
        does="the old running means are returned",
        says="{does}: the optimizer forgets each gradient after its step.",
        hints=["What do the workers hold after the step that they did not hold before it?"],
    ),
    Mistake(
        "mean_of_the_workers_squares",
        STEPS.but(
            new_mean_squares=lambda mean_squares, gradients, cut: (
                0.999 * mean_squares + 0.001 * cut((gradients**2).mean(dim=0))
            )
        ),
        does="the workers' gradients are squared before they are averaged",
        says="{does}. One device would square the gradient of the whole batch, so average first.",
        hints=["Gradients of 1 and −1: what is the square of their mean, and what the mean of their squares?"],
    ),
    Mistake(
        "same_decay_for_both",
        STEPS.but(
            new_mean_squares=lambda mean_squares, gradient: 0.9 * mean_squares + 0.1 * gradient**2,
            unbiased_squares=lambda new_mean_squares, step: new_mean_squares / (1 - 0.9**step),
        ),
        STEPS.but(new_mean_squares=lambda mean_squares, gradient: 0.9 * mean_squares + 0.1 * gradient**2),
        does="of the mean square, too, 0.9 is kept, not 0.999",
    ),
    Mistake(
        "old_and_new_exchanged",
        STEPS.but(new_means=lambda means, gradient: 0.1 * means + 0.9 * gradient),
        STEPS.but(
            new_means=lambda means, gradient: 0.1 * means + 0.9 * gradient,
            new_mean_squares=lambda mean_squares, gradient: 0.001 * mean_squares + 0.999 * gradient**2,
        ),
        does="the running mean takes most from the new gradient, not from the old mean",
        says="{does}. It should change slowly: one batch says little.",
        hints=["With a mean of 1 and a gradient of 0, is the new mean 0.9 or 0.1?"],
    ),
    Mistake(
        "uphill",
        STEPS.but(updated=lambda own, update: own + update),
        does="the step is added to the parameters, not subtracted",
        says="{does}. The gradient points to where the loss grows.",
        hints=["With a positive gradient, should the parameter grow?"],
    ),
    Mistake(
        "epsilon_under_the_root",
        STEPS.but(update=lambda unbiased, unbiased_squares, rate: rate * unbiased / (unbiased_squares + 1e-8).sqrt()),
        does="the tiny number is added under the root",
        says="{does}, where it is not tiny: the root of 10⁻⁸ is 0.0001.",
        hints=["What is the root of 0.0001² + 10⁻⁸? And the root of 0.0001², plus 10⁻⁸?"],
    ),
]
