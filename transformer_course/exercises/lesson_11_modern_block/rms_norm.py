"""Bring vectors to the root mean square 1."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.exercises.shared.norm_mistakes import axis_from_the_front, eps_fixed, weighted_first
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.layers.norms import rms_norm


def axis():
    """choose the last axis, that of the features → the axis that is averaged over: the last one"""
    return -1


def wide(x):
    """compute in float32, whatever the dtype of x → x in float32"""
    return x.float()


def squares(wide):
    """square the features → the squared features"""
    return wide.square()


def mean_square(squares, axis):
    """take the mean of the squares of each vector → the mean squares"""
    return squares.mean(dim=axis, keepdim=True)


def with_eps(mean_square, eps):
    """add eps → the mean squares plus eps"""
    return mean_square + eps


def root(with_eps):
    """take the root → the root mean squares: the roots of the mean squares plus eps"""
    return torch.sqrt(with_eps)


def normalized(wide, root):
    """divide x by it → the normalized vectors"""
    return wide / root


def narrow(normalized, x):
    """bring the result back to the dtype of x → the normalized vectors in the dtype of x"""
    return normalized.to(x.dtype)


def stretched(narrow, weight):
    """multiply by the weight → the stretched vectors"""
    return narrow * weight


STEPS = InSteps(axis, wide, squares, mean_square, with_eps, root, normalized, narrow, stretched, reference=rms_norm)


def rms_norm_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def drawn(*shape: int) -> dict[str, Tensor]:
        """Draw vectors of every size and level, and weights that are far from 1."""
        sizes, levels = 1 + torch.rand(*shape[:-1], 1, generator=rng), normal(rng, *shape[:-1], 1)
        return {"x": levels + sizes * normal(rng, *shape), "weight": 0.5 + torch.rand(shape[-1], generator=rng)}

    def shuffled(numbers: list[float]) -> Tensor:
        return torch.tensor(numbers)[torch.randperm(len(numbers), generator=rng)]

    def in_half_precision() -> dict[str, Tensor]:
        """Draw numbers of root mean square 512, of which nothing has to be rounded, and most squares are infinite."""
        rows = [shuffled([3.0, 3, 3, 1, 1, 1, 1, 1]) * shuffled([1.0, 1, 1, 1, 1, -1, -1, -1]) for _ in range(3)]
        weight = shuffled([0.5, 0.5, 1, 1.5, 1.5, 2, 2, 3])
        return {"x": (256 * torch.stack(rows)).half(), "weight": weight.half()}

    zeros = drawn(3, 4)
    zeros["x"][1] = 0.0
    eps = uniform(rng, 0.3, 0.6)
    tiny = drawn(3, 5)
    tiny["x"] = 0.001 * normal(rng, 3, 5)
    return [
        Case({"x": torch.tensor([2.0, 0.0, 0.0, 4.0]), "weight": torch.ones(4), "eps": 4.0}, "mean square 5, eps 4"),
        Case(
            {"x": torch.tensor([3.0, 1.0, -1.0, 1.0]), "weight": torch.tensor([1.0, 2.0, 3.0, 4.0]), "eps": 1.0},
            "mean square 3, eps 1, and weights",
        ),
        Case(zeros, "3 vectors, one of zeros"),
        Case(drawn(4, 4), "as many vectors as features"),
        Case(tiny, "mean squares as small as eps"),
        Case(in_half_precision(), "large numbers in float16"),
        Case({**drawn(2, 3, 5), "eps": eps}, f"2 sentences of 3 vectors, eps {eps:.2f}"),
        Case(drawn(5, 7, 11, 13), "two axes in front of the sentences"),
    ]


FIRST_CASE = "In the first case the squares are 4, 0, 0 and 16. What is their mean, and what comes out here?"

MISTAKES = [
    Mistake(
        "unbiased_variance",
        STEPS.but(mean_square=lambda wide, axis: wide.var(dim=axis, keepdim=True)),
        STEPS.but(
            wide=lambda wide, axis: wide - wide.mean(dim=axis, keepdim=True),
            mean_square=lambda wide, axis: wide.var(dim=axis, keepdim=True),
        ),
        summary="the variance is taken, with d − 1",
        message=(
            "The variance is taken, the one of `var` and `std`, which subtract the mean and divide by d − 1. RMSNorm "
            "takes the mean of the squares of x itself. Look at how the mean square is computed."
        ),
        hints=[FIRST_CASE],
    ),
    Mistake(
        "over_the_whole_sentence",
        STEPS.but(axis=lambda x: tuple(range(-min(x.dim(), 2), 0))),
        STEPS.but(axis=lambda: (-2, -1)).attempt,
        summary="one mean is taken of the squares of all positions of a sentence together",
        message=(
            "{summary}. Then each position depends on the others, and on the padding. Look at which axes are averaged "
            "over."
        ),
        hints=["Change the last vector of a sentence. May the output for the first one change?"],
    ),
    Mistake(
        "over_the_positions",
        STEPS.but(axis=lambda x: -min(x.dim(), 2)),
        STEPS.but(axis=lambda: -2),
        summary="the mean runs over the positions, the axis before the last",
        message=(
            "The mean runs over the positions, so positions mix. It should be over the features of each position. Look "
            "at the axis."
        ),
        hints=["For x of shape (batch, n, d), which shape should the mean squares have?"],
    ),
    axis_from_the_front(STEPS),
    Mistake(
        "root_without_a_gradient",
        STEPS.but(root=lambda root: root.detach()),
        STEPS.but(wide=lambda wide: wide.detach()).attempt,
        summary="the root is taken for a fixed number on the way back",
        message=(
            "The numbers are right, and the gradient at x is not: what x is divided by is taken for a fixed number on "
            "the way back. It is made of x, and changes with it. Look for `no_grad`, `detach` or `.data`."
        ),
        hints=["If x gets 10 times as large, the output should stay as it is. Is the gradient along x 0?"],
    ),
    Mistake(
        "divides_in_place",
        STEPS.but(normalized=lambda wide, root: wide.div_(root)).attempt,
        STEPS.but(normalized=lambda wide, root: wide.div_(root.detach())).attempt,
        STEPS.but(squares=lambda wide: wide.clone().square(), normalized=lambda wide, root: wide.div_(root)).attempt,
        message=(
            "x is divided in place. `.float()` makes no copy of what is in float32 already, so this writes into x "
            "itself, and the caller may still need it. Look at what `/=` does to a tensor."
        ),
        hints=[
            "Which line writes into x itself?",
            "`y /= 2` changes the tensor; `y = y / 2` makes a new one.",
            "Give the normalized vectors a name of their own.",
        ],
    ),
    eps_fixed(STEPS, 4),
    weighted_first(
        STEPS.but(wide=lambda wide, weight: wide * weight.float(), stretched=lambda narrow: narrow),
        STEPS.but(x=lambda x, weight: x * weight, stretched=lambda narrow: narrow).attempt,
    ),
]


EXERCISE = Exercise(
    reference=rms_norm,
    steps=STEPS,
    cases=rms_norm_cases,
    points=2,
    verified="Every vector is divided by the root mean square of its own features, in float32, then stretched. "
    "Nothing is subtracted.",
    hints=[
        "Three steps: the mean of the squares of each vector; its root, once eps is added; x divided by that, times "
        "the weight.",
        "`x.float().square().mean(dim=-1, keepdim=True)` has the shape (…, 1), so x of shape (…, d) can be divided by "
        "its root.",
        "In float16, numbers above 65,504 are infinite, and so is the square of 256: compute in float32, and bring "
        "the result back with `.to(x.dtype)`.",
        "`weight * (wide / torch.sqrt(mean_square + eps)).to(x.dtype)`, where `wide` is `x.float()`.",
    ],
    messages={
        "call_left_out_wide": (
            "x is squared in its own dtype, and in float16 that overflows. float32 comes too late, or not at all."
        ),
        "centered_wide": (
            "The mean is subtracted, as in LayerNorm. RMSNorm leaves it where it is. Look for a mean of x itself."
        ),
        "centered_narrow": (
            "The mean is subtracted from x before it is divided. RMSNorm leaves it where it is. Look at what "
            "is divided."
        ),
        "call_left_out_squares": (
            "The features are averaged, but never squared, so positive and negative ones cancel. A step is missing."
        ),
        "moved_squares: mean_square": (
            "The mean of the features is squared: first averaged, then squared. Look at the order of the two."
        ),
        "moved_with_eps: root": (
            "eps is added to the root mean square. It belongs under the root. Look at where eps stands."
        ),
        "operator_with_eps: (mean_square) - (eps)": (
            "eps is subtracted from the mean square, so that it may get 0 or negative. Look at the sign."
        ),
    },
    mistakes=MISTAKES,
)
