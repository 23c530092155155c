"""Bring vectors to mean 0 and variance 1."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.exercises.shared.norm_mistakes import axis_from_the_front, eps_fixed, weighted_first
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.layers.norms import layer_norm


def axis():
    """choose the last axis, that of the features → the axis that is averaged over: the last one"""
    return -1


def mean(x, axis):
    """take the mean of each vector → the means"""
    return x.mean(dim=axis, keepdim=True)


def deviations(x, mean):
    """subtract it → the deviations from the mean"""
    return x - mean


def squares(deviations):
    """square the deviations → the squared deviations"""
    return deviations.square()


def variance(squares, axis):
    """take the mean of the squares → the variances: the means of the squared deviations"""
    return squares.mean(dim=axis, keepdim=True)


def with_eps(variance, eps):
    """add eps → the variances plus eps"""
    return variance + eps


def root(with_eps):
    """take the root → the standard deviations: the roots of variance plus eps"""
    return torch.sqrt(with_eps)


def normalized(deviations, root):
    """divide the deviations by it → the normalized vectors"""
    return deviations / root


def stretched(normalized, weight):
    """multiply by the weight → the stretched vectors"""
    return normalized * weight


def shifted(stretched, bias):
    """add the bias → the shifted vectors"""
    return stretched + bias


STEPS = InSteps(
    axis, mean, deviations, squares, variance, with_eps, root, normalized, stretched, shifted, reference=layer_norm
)


def layer_norm_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def drawn(*shape: int) -> dict[str, Tensor]:
        """Draw vectors of every size and level, and weights that are far from 1."""
        sizes, levels = 1 + torch.rand(*shape[:-1], 1, generator=rng), normal(rng, *shape[:-1], 1)
        d = shape[-1]
        return {
            "x": levels + sizes * normal(rng, *shape),
            "weight": 0.5 + torch.rand(d, generator=rng),
            "bias": 1 + normal(rng, d),
        }

    nothing = {"weight": torch.ones(4), "bias": torch.zeros(4)}
    something = {"weight": torch.tensor([1.0, 2.0, 3.0, 4.0]), "bias": torch.tensor([10.0, 0.0, 0.0, -10.0])}
    alike = drawn(3, 4)
    alike["x"][1] = 3.0  # these four have no variance
    eps = uniform(rng, 0.3, 0.6)
    far = drawn(2, 8)
    level = float(torch.randint(850, 950, (), generator=rng))  # of which the squares do not lose digits yet
    far["x"] = level + (torch.rand(2, 8, generator=rng).argsort(dim=-1) < 3).float()  # three of eight are larger by 1
    tiny = drawn(3, 5)
    tiny["x"] = 0.003 * normal(rng, 3, 5)
    return [
        Case({"x": torch.tensor([4.0, 0.0, 0.0, 0.0]), **nothing, "eps": 1.0}, "mean 1, variance 3, eps 1"),
        Case({"x": torch.tensor([3.0, 1.0, 1.0, 3.0]), **something, "eps": 3.0}, "mean 2, variance 1, eps 3"),
        Case(alike, "3 vectors, one with all features alike"),
        Case(drawn(4, 4), "as many vectors as features"),
        Case(tiny, "variances as small as eps"),
        Case(far, "numbers far from 0"),
        Case({**drawn(2, 3, 5), "eps": eps}, f"2 sentences of 3 vectors, eps {eps:.2f}"),
        Case(drawn(5, 7, 11, 13), "two axes in front of the sentences"),
    ]


MISTAKES = [
    Mistake(
        "over_the_whole_sentence",
        STEPS.but(axis=lambda x: tuple(range(-min(x.dim(), 2), 0))),
        STEPS.but(axis=lambda: (-2, -1)),
        summary="mean and variance are taken of all positions of a sentence together",
        message="{summary}. Then each position depends on all others, and on the padding.",
        hints=["Change the last vector of a sentence. May the output for the first one change?"],
    ),
    Mistake(
        "over_the_positions",
        STEPS.but(axis=lambda x: -min(x.dim(), 2)),
        STEPS.but(axis=lambda: -2),
        summary="mean and variance are taken over the positions, the axis before the last",
        message="{summary}, so positions mix. It should be each position over its features.",
        hints=["For x of shape (batch, n, d), which shape should the means have?"],
    ),
    axis_from_the_front(STEPS),
    Mistake(
        "axis_dropped",
        STEPS.but(
            mean=lambda x, axis: x.mean(dim=axis),
            variance=lambda x, axis: x.var(dim=axis, unbiased=False),
        ),
        summary="mean and variance lose the axis along which they were taken",
        message=(
            "Right for a single vector. For several, mean and variance have lost their last axis, so they do not line "
            "up with the vectors: a crash, or, where n and d are equal, nonsense."
        ),
        hints=["x has the shape (2, 3, 5). Which shape has `x.mean(dim=-1)`?"],
    ),
    Mistake(
        "no_brackets",
        STEPS.but(stretched=lambda x, mean, root, weight: weight * x - mean / root),
        STEPS.but(normalized=lambda x, mean, root: x - mean / root),
        summary="only the mean is divided, and not the difference of x and the mean",
        message="{summary}: division binds more tightly than subtraction. Look at the brackets.",
        hints=["What is 8 - 6 / 2 in Python?"],
    ),
    Mistake(
        "loses_digits",
        STEPS.but(variance=lambda x, axis, mean: x.square().mean(axis, keepdim=True) - mean**2),
        summary="the variance is the difference of two large numbers, which loses digits where x is far from 0",
        message=(
            "Right near 0; where x is far from 0, the variance comes out wrong. The mean of the squares less the "
            "square of the mean is right on paper, but these are two large numbers, nearly equal, and of their "
            "difference a float32 keeps only a few digits."
        ),
        hints=["What is the variance of (1000, 1001), and what is 1000² as a float32? How many digits does that have?"],
    ),
    eps_fixed(STEPS, 1),
    weighted_first(STEPS.but(x=lambda x, weight: weight * x, stretched=lambda normalized: normalized), bias=True),
]


EXERCISE = Exercise(
    reference=layer_norm,
    steps=STEPS,
    cases=layer_norm_cases,
    points=2,
    verified="Every vector has mean 0 and variance 1 over its own features, then is scaled and shifted.",
    hints=[
        "Three steps: subtract the mean of each vector; divide by the root of variance plus eps; multiply by the "
        "weight and add the bias.",
        "`x.mean(dim=-1, keepdim=True)` has the shape (…, 1), so it can be subtracted from x of shape (…, d).",
        "The variance is the mean of the squares of `x - mean`, again over the last axis with `keepdim=True`.",
        "`weight * (x - mean) / torch.sqrt(variance + eps) + bias`.",
    ],
    messages={
        "number_axis: 0": (
            "Each feature is normalized over the batch, which is what BatchNorm does. What comes out for a sentence "
            "then depends on its neighbors. Look at the axis of the mean and of the variance."
        ),
        "mean_by_variance: squares.sum(dim=axis, keepdim=True) / (squares.shape[-1] - 1)": (
            "The sum of squares is divided by d − 1, as statisticians do for a sample, and as `var` and `std` "
            "do unless told otherwise. Here the d features are all there is. Look at how the variance is "
            "computed."
        ),
        "call_left_out_squares": (
            "The deviations are averaged without being squared: positive and negative ones cancel, and their "
            "mean is always 0. A step is missing."
        ),
        "moved_with_eps: root": (
            "eps is added to the standard deviation. It belongs to the variance, under the root. With a small "
            "eps nobody notices, until a vector is nearly constant. Look at where eps stands."
        ),
        "part_left_out_deviations": (
            "No mean is subtracted at all. That is another norm, RMSNorm, which lesson 11 is about. Here each vector "
            "is centered first."
        ),
        "done_again_root: variance": (
            "The root is taken twice. (`std` is the root of the variance already.) Look at what is under the root."
        ),
    },
    mistakes=MISTAKES,
)
