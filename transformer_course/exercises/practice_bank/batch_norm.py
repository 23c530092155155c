"""BatchNorm with running statistics. Unlike LayerNorm in lesson 06, it averages over the batch and keeps state."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def batch_norm(
    x: Float[Tensor, "batch n d"],
    weight: Float[Tensor, " d"],
    bias: Float[Tensor, " d"],
    running_mean: Float[Tensor, " d"],
    running_var: Float[Tensor, " d"],
    training: bool,
    momentum: float,
    eps: float,
) -> tuple[Float[Tensor, "batch n d"], Float[Tensor, " d"], Float[Tensor, " d"]]:
    """Normalize each feature over batch and positions; return the output and the new running mean and variance."""
    mean, var = running_mean, running_var
    if training:
        n = x.shape[0] * x.shape[1]
        mean, var = x.mean(dim=(0, 1)), x.var(dim=(0, 1), correction=0)
        running_mean = (1 - momentum) * running_mean + momentum * mean
        running_var = (1 - momentum) * running_var + momentum * var * n / (n - 1)
    return (x - mean) / torch.sqrt(var + eps) * weight + bias, running_mean, running_var


def dims():
    """choose the dimensions of batch and positions → the dimensions to average over: batch and positions"""
    return (0, 1)


def batch_mean(x, dims):
    """average each feature over batch and positions → the mean of each feature in the batch, (d)"""
    return x.mean(dim=dims)


def batch_var(x, dims):
    """take the variance of each feature, divided by n → the variance of each feature in the batch, (d)"""
    return x.var(dim=dims, correction=0)


def sample_var(batch_var, x):
    """multiply the variance by n / (n − 1) → the unbiased variance: variance · n / (n − 1)"""
    n = x.shape[0] * x.shape[1]
    return batch_var * n / (n - 1)


def mean(training, batch_mean, running_mean):
    """choose between batch mean and running mean → the mean: of the batch in training, else the running mean"""
    return batch_mean if training else running_mean


def var(training, batch_var, running_var):
    """choose between batch and running variance → the variance: of the batch in training, else the running variance"""
    return batch_var if training else running_var


def normalized(x, mean, var, eps):
    """subtract the mean, and divide by the standard deviation → the normalized x: (x − mean) / √(variance + ε)"""
    return (x - mean) / torch.sqrt(var + eps)


def output(normalized, weight, bias):
    """multiply by the weight, and add the bias → the output"""
    return normalized * weight + bias


def new_running_mean(running_mean, batch_mean, momentum, training):
    """update the running mean in training → the new running mean: (1 − momentum) · old + momentum · batch mean"""
    return (1 - momentum) * running_mean + momentum * batch_mean if training else running_mean


def new_running_var(running_var, sample_var, momentum, training):
    """update the running variance in training → the new running variance: computed from the unbiased variance"""
    return (1 - momentum) * running_var + momentum * sample_var if training else running_var


def result(output, new_running_mean, new_running_var):
    """return the output and both running statistics → the output, the new running mean and the new running variance"""
    return output, new_running_mean, new_running_var


STEPS = InSteps(
    dims, batch_mean, batch_var, sample_var, mean, var, normalized, output, new_running_mean, new_running_var, result,
    reference=batch_norm,
)  # fmt: skip

CONSTANTS = ("x", "running_mean", "running_var")
"""Inputs whose gradients are not compared, because running statistics carry no gradients in PyTorch."""


def batch_norm_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(batch, n, d, training, shows, *, momentum=0.1, eps=1e-5):
        inputs = {
            "x": normal(rng, d) + (0.5 + torch.rand(d, generator=rng)) * normal(rng, batch, n, d),
            "weight": 0.5 + torch.rand(d, generator=rng),
            "bias": normal(rng, d),
            "running_mean": normal(rng, d),
            "running_var": 0.5 + torch.rand(d, generator=rng),
            "training": training,
            "momentum": momentum,
            "eps": eps,
        }
        return Case(inputs, shows, constants=CONSTANTS)

    return [
        case(2, 1, 2, True, "2 texts of one position, 2 features, training"),
        case(1, 2, 3, False, "one text of 2 positions, 3 features, evaluation"),
        case(3, 3, 3, True, "3 texts of 3 positions, 3 features, training, momentum 0.3", momentum=0.3),
        case(3, 2, 5, False, "evaluation, a large eps", eps=0.4),
        case(2, 5, 3, True, "2 texts of 5 positions, training, a large eps", eps=uniform(rng, 0.3, 0.5)),
        case(7, 11, 13, True, "7 texts of 11 positions, 13 features, training, momentum 0.25", momentum=0.25),
    ]


MISTAKES = [
    Mistake(
        "layer_norm",
        STEPS.but(
            mean=lambda x, training, running_mean: x.mean(dim=-1, keepdim=True) if training else running_mean,
            var=lambda x, training, running_var: x.var(dim=-1, correction=0, keepdim=True) if training else running_var,
        ),
        STEPS.but(
            mean=lambda x: x.mean(dim=-1, keepdim=True),
            var=lambda x: x.var(dim=-1, correction=0, keepdim=True),
        ),
        summary="you normalize each position over its features",
        message=(
            "You normalize each position over its own features, which is LayerNorm. BatchNorm normalizes each "
            "feature over all positions of the batch. Which dimensions should you average over?"
        ),
        hints=["For x of shape (7, 11, 13), how many means should you have: 77 or 13?"],
    ),
    Mistake(
        "over_the_batch_only",
        STEPS.but(dims=lambda: 0),
        summary="you average over dim 0 alone",
        message=(
            "You average over the batch but not over the positions, so every position has separate statistics. For "
            "(batch, n, d), BatchNorm has d means. Which dimensions should you average over?"
        ),
        hints=["For x of shape (7, 11, 13), what is the shape of your mean?"],
    ),
    Mistake(
        "instance_norm",
        STEPS.but(
            mean=lambda x, training, running_mean: x.mean(dim=1, keepdim=True) if training else running_mean,
            var=lambda x, training, running_var: x.var(dim=1, correction=0, keepdim=True) if training else running_var,
        ),
        summary="you normalize each text separately",
        message=(
            "You average over the positions of each text separately, which is InstanceNorm. BatchNorm also averages "
            "over the batch. Which dimensions should you average over?"
        ),
        hints=["If one text of the batch changes, should the output for the others change in training?"],
    ),
    Mistake(
        "batch_statistics_in_evaluation",
        STEPS.but(mean=lambda batch_mean: batch_mean, var=lambda batch_var: batch_var),
        summary="you use the statistics of the batch in evaluation as well",
        message=(
            "You use the statistics of the batch in evaluation as well, so a prediction depends on the other texts "
            "in the batch. When should you use the running statistics?"
        ),
        hints=["In evaluation, may the output for one text change with the other texts of the batch?"],
    ),
    Mistake(
        "running_statistics_in_training",
        STEPS.but(mean=lambda new_running_mean: new_running_mean, var=lambda new_running_var: new_running_var),
        STEPS.but(mean=lambda running_mean: running_mean, var=lambda running_var: running_var),
        summary="you normalize with the running statistics in training",
        message=(
            "You normalize with the running statistics in training, and these lag behind. Training should use the "
            "statistics of the batch and only update the running statistics. Which mean do you subtract?"
        ),
        hints=["In training, what should the mean of each feature of (x − mean) be?"],
    ),
    Mistake(
        "updates_in_evaluation",
        STEPS.but(
            new_running_mean=lambda running_mean, batch_mean, momentum: (
                (1 - momentum) * running_mean + momentum * batch_mean
            ),
            new_running_var=lambda running_var, sample_var, momentum: (
                (1 - momentum) * running_var + momentum * sample_var
            ),
        ),
        summary="you update the running statistics in evaluation",
        message="You update the running statistics in evaluation, so test data leak into the model. When should they "
        "change?",
        hints=["After `model.eval()`, may a call change the model?"],
    ),
    Mistake(
        "momentum_reversed",
        STEPS.but(momentum=lambda momentum: 1 - momentum),
        summary="you swap momentum and 1 − momentum",
        message="You give the *old* running value the weight `momentum`. In PyTorch's BatchNorm, `momentum` is the "
        "weight of the new batch, unlike in an optimizer. With 0.1, how much should one batch change the running "
        "mean?",
        hints=["With a running mean of 0, a batch mean of 1 and momentum 0.1, what is the new running mean?"],
    ),
    Mistake(
        "unbiased_variance_normalizes",
        STEPS.but(batch_var=lambda x, dims: x.var(dim=dims), sample_var=lambda batch_var: batch_var),
        STEPS.but(var=lambda training, sample_var, running_var: sample_var if training else running_var),
        summary="you normalize with the variance that divides by n − 1",
        message=(
            "You normalize with the variance that divides by n − 1: `var` uses Bessel's correction unless you pass "
            "`correction=0`. BatchNorm divides by n to normalize. Where does it divide by n − 1 instead?"
        ),
        hints=["What is the variance of the *population* [0, 2]: 1 or 2?"],
    ),
    Mistake(
        "biased_running_variance",
        STEPS.but(sample_var=lambda batch_var: batch_var),
        summary="you update the running variance with the variance that divides by n",
        message=(
            "You update the running variance with the biased variance of the batch, which divides by n. It should "
            "describe data beyond this batch, so PyTorch uses the unbiased estimate there. Which factor should you "
            "multiply the variance by?"
        ),
        hints=["From n samples, which denominator estimates the variance of the whole population without bias?"],
    ),
    Mistake(
        "eps_outside_the_root",
        STEPS.but(normalized=lambda x, mean, var, eps: (x - mean) / (torch.sqrt(var) + eps)),
        summary="you add ε after taking the square root",
        message=(
            "You add ε to the standard deviation, but BatchNorm adds it to the *variance*. The difference matters "
            "when a feature is nearly constant: for variance 0, you divide by ε instead of √ε."
        ),
        hints=["With a variance of 0 and ε = 10⁻⁴, should you divide by 10⁻⁴ or by 10⁻²?"],
    ),
    Mistake(
        "never_updates",
        STEPS.but(new_running_mean=lambda running_mean: running_mean, new_running_var=lambda running_var: running_var),
        summary="you return the running statistics unchanged in training",
        message="You return the running statistics unchanged in training, so evaluation uses whatever they started "
        "with. How much of the batch's mean should go into the running mean?",
        hints=["With a running mean of 0, a batch mean of 1 and momentum 0.1, what is the new running mean?"],
    ),
]

EXERCISE = Exercise(
    reference=batch_norm,
    steps=STEPS,
    cases=batch_norm_cases,
    points=3,
    stretch=True,
    verified="Training normalizes with the batch and updates the running statistics, evaluation uses them, all as "
    "`nn.BatchNorm1d` does.",
    hints=[
        "x has the shape (batch, n, d). LayerNorm has a mean for each of the batch · n positions. BatchNorm has one "
        "for each feature. How many are that?",
        "Training uses the statistics of the batch and updates running averages; evaluation uses those averages. The "
        "variance that normalizes divides by n, the one that is remembered by n − 1.",
        "In training, take mean and variance over the dimensions 0 and 1 with `correction=0`, normalize, and update "
        "running = (1 − momentum) · running + momentum · batch, with the variance times n / (n − 1).",
        "`x.mean(dim=(0, 1))` and `x.var(dim=(0, 1), correction=0)` have the shape (d).",
    ],
    messages={
        "call_left_out_normalized: var + eps": Wording(
            "{summary}, so a feature twice as large comes out half as large. Which variance should the output have?",
            summary="you divide by the variance instead of the standard deviation",
        ),
        "part_left_out_normalized: var": Wording(
            "{summary}, so a constant feature gives 0/0 = nan. Where in the formula is ε?",
            summary="you never add `eps` to the variance",
        ),
    },
    mistakes=MISTAKES,
)
