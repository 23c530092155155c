"""RMSNorm: scale vectors to root mean square 1."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.exercises.shared.norm_mistakes import axis_from_the_front, eps_fixed, weighted_first
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.layers.norms import rms_norm


def axis():
    """choose the last dimension, the features → the dimension to average over: −1, the last"""
    return -1


def wide(x):
    """convert x to float32 → x in float32"""
    return x.float()


def squares(wide):
    """square the features → the squared features"""
    return wide.square()


def mean_square(squares, axis):
    """take the mean of the squares of each vector → the mean square of each vector"""
    return squares.mean(dim=axis, keepdim=True)


def with_eps(mean_square, eps):
    """add `eps` → the mean square plus eps"""
    return mean_square + eps


def root(with_eps):
    """take the square root of the mean square → the root mean square: √(mean square + eps)"""
    return torch.sqrt(with_eps)


def normalized(wide, root):
    """divide x by the root mean square → the normalized vectors"""
    return wide / root


def narrow(normalized, x):
    """convert the result back to the dtype of x → the result in x's dtype"""
    return normalized.to(x.dtype)


def stretched(narrow, weight):
    """multiply by the weight → the scaled vectors"""
    return narrow * weight


STEPS = InSteps(axis, wide, squares, mean_square, with_eps, root, normalized, narrow, stretched, reference=rms_norm)


def rms_norm_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def drawn(*shape: int) -> dict[str, Tensor]:
        """Draw vectors with very different scales and means, and weights far from 1."""
        sizes, levels = 1 + torch.rand(*shape[:-1], 1, generator=rng), normal(rng, *shape[:-1], 1)
        return {"x": levels + sizes * normal(rng, *shape), "weight": 0.5 + torch.rand(shape[-1], generator=rng)}

    def shuffled(numbers: list[float]) -> Tensor:
        return torch.tensor(numbers)[torch.randperm(len(numbers), generator=rng)]

    def in_half_precision() -> dict[str, Tensor]:
        """Draw numbers with root mean square 512. They are exact in half precision, but most of their squares
        overflow.
        """
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
        Case(drawn(4, 4), "4 vectors of 4 features"),
        Case(tiny, "mean squares as small as eps"),
        Case(in_half_precision(), "large numbers in float16"),
        Case({**drawn(2, 3, 5), "eps": eps}, f"2 sentences of 3 vectors, eps {eps:.2f}"),
        Case(drawn(5, 7, 11, 13), "two dimensions in front of the positions"),
    ]


FIRST_CASE = "Does the formula of RMSNorm subtract a mean? By which number does it divide the sum of the squares?"

MISTAKES = [
    Mistake(
        "unbiased_variance",
        STEPS.but(mean_square=lambda wide, axis: wide.var(dim=axis, keepdim=True)),
        STEPS.but(
            wide=lambda wide, axis: wide - wide.mean(dim=axis, keepdim=True),
            mean_square=lambda wide, axis: wide.var(dim=axis, keepdim=True),
        ),
        summary="you use the variance with d − 1 instead of the mean square",
        message=(
            "You use the variance: `var` and `std` subtract the mean and divide by d − 1. For [2, 0, 0, 4], you get "
            "3.67, but the mean square is 5. Which squares should you average?"
        ),
        hints=[FIRST_CASE],
    ),
    Mistake(
        "over_the_whole_sentence",
        STEPS.but(axis=lambda x: tuple(range(-min(x.dim(), 2), 0))),
        STEPS.but(axis=lambda: (-2, -1)).attempt,
        summary="you average the squares over all positions of a sentence",
        message=(
            "{summary}, so the output at each position depends on all other positions, including padding. Which "
            "dimensions does your mean run over?"
        ),
        hints=["If the last vector of a sentence changes, should the output for the first one change?"],
    ),
    Mistake(
        "over_the_positions",
        STEPS.but(axis=lambda x: -min(x.dim(), 2)),
        STEPS.but(axis=lambda: -2),
        summary="you average over the positions instead of the features",
        message=(
            "{summary}, so the output at each position depends on the other positions. Which `dim` runs over the "
            "features of one position?"
        ),
        hints=["For x of shape (batch, n, d), which shape should the mean squares have?"],
    ),
    axis_from_the_front(STEPS),
    Mistake(
        "root_without_a_gradient",
        STEPS.but(root=lambda root: root.detach()),
        STEPS.but(wide=lambda wide: wide.detach()).attempt,
        summary="you treat the root mean square as a constant in the backward pass",
        message=(
            "Your output is right, but the gradient of x is wrong or missing: you exclude part of the computation from "
            "the backward pass. Do you use `no_grad`, `detach` or `.data`?"
        ),
        hints=["The root mean square changes with x. Does its part of the gradient reach x?"],
    ),
    Mistake(
        "divides_in_place",
        STEPS.but(normalized=lambda wide, root: wide.div_(root)).attempt,
        STEPS.but(normalized=lambda wide, root: wide.div_(root.detach())).attempt,
        STEPS.but(squares=lambda wide: wide.clone().square(), normalized=lambda wide, root: wide.div_(root)).attempt,
        message=(
            "You divide x in place. `.float()` doesn't copy a tensor that is already float32, so you overwrite the "
            "caller's x. Which operation creates a new tensor instead?"
        ),
        hints=[
            "Print x before and after your function. Which line writes into it?",
            "`y /= 2` and `y.div_(2)` change the tensor y. `y = y / 2` creates a new one.",
            "Assign the normalized vectors to a new variable.",
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
    verified=(
        "You divide every vector by the root mean square of its own features, in float32, and then scale it. You "
        "don't subtract the mean."
    ),
    hints=[
        "Take x = [2, 0, 0, 4] and eps = 4. What is the mean of the squares, and which number should you divide x by?",
        "RMSNorm divides each vector by the square root of its mean square plus eps, then multiplies by the weight. "
        "`x.float().square().mean(dim=-1, keepdim=True)` has shape (…, 1), so it broadcasts against x.",
        "In float16, numbers above 65,504 overflow, and so does the square of 256. Compute in float32, and convert the "
        "result back with `.to(x.dtype)`.",
        "`weight * (wide / torch.sqrt(mean_square + eps)).to(x.dtype)`, where `wide` is `x.float()`.",
    ],
    messages={
        "shifted_weight: weight + 1": Wording(
            "{summary}. Gemma does this because it stores each weight minus 1. This exercise stores the weight "
            "itself, so with a weight of 1 you return twice the normalized vector.",
            summary="you multiply by 1 + `weight`",
            hints=["If every weight is 1, which root mean square should your output have?"],
        ),
        "call_left_out_wide": Wording(
            "{summary}: 256² = 65,536 exceeds the maximum of 65,504. When should you convert x to float32?",
            summary="you square x in its own dtype, which overflows in float16",
        ),
        "centered_wide": Wording(
            "{summary}, so x and x + 1 give the same output. RMSNorm doesn't subtract the mean. Which quantity does "
            "its formula average?",
            summary="you subtract the mean, as LayerNorm does",
        ),
        "centered_narrow": Wording(
            "Your root mean square is right, but you also subtract the mean from the vectors, so every output has "
            "mean 0. Does the formula of RMSNorm subtract anything?",
            summary="you subtract the mean from the vectors",
        ),
        "call_left_out_squares": Wording(
            "{summary}, so positive and negative features cancel: for [1, −1], you get a mean of 0 instead of 1.",
            summary="you average the features without squaring them",
        ),
        "moved_squares: mean_square": Wording(
            "{summary}: for [1, −1], you get 0 instead of 1. Which should come first, squaring or averaging?",
            summary="you square the mean instead of averaging the squares",
        ),
        "moved_with_eps: root": Wording(
            "{summary}. With a mean square of 5 and eps 4, you divide by √5 + 4 = 6.2 instead of √9 = 3.",
            summary="you add `eps` after taking the square root",
        ),
        "operator_with_eps: (mean_square) - (eps)": Wording(
            "{summary}. For a vector of zeros, you take the square root of −eps, which is nan. Should `eps` make the "
            "number under the root larger or smaller?",
            summary="you subtract `eps` from the mean square instead of adding it",
        ),
        "sibling_mean_square: squares.sum(dim=axis, keepdim=True)": Wording(
            "You add up the squares: for [2, 0, 0, 4], you get 20 instead of 5. What does the M in RMS stand for?",
            summary="you add up the squares instead of averaging them",
        ),
        "all_axes_mean_square: squares.mean()": Wording(
            "{summary}, so you divide every vector by the same number. Which `dim` runs over the features of one "
            "vector?",
            summary="you average the squares over the whole tensor",
        ),
        "call_left_out_root: with_eps": Wording(
            "{summary}, so an x twice as large gives an output half as large. What does the R in RMS stand for?",
            summary="you divide by the mean square without taking its square root",
        ),
        "call_left_out_narrow: normalized": Wording(
            "{summary}, so for a float16 x you return float32. Which dtype should the result have?",
            summary="you never convert the result back to the dtype of x",
        ),
        "part_left_out_with_eps: mean_square": Wording(
            "{summary}, so a vector of zeros gives 0/0 = nan. Where in the formula is `eps`?",
            summary="you never add `eps`",
        ),
        "part_left_out_stretched: narrow": Wording(
            "{summary}, so the learned scale of each feature has no effect. What is the last step of the formula?",
            summary="you never multiply by `weight`",
        ),
    },
    mistakes=MISTAKES,
)
