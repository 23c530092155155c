"""LayerNorm: normalize vectors to mean 0 and variance 1."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.exercises.shared.norm_mistakes import axis_from_the_front, eps_fixed, weighted_first
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.layers.norms import layer_norm


def axis():
    """choose the last dimension, the features → the dimension averaged over: −1, the last → the `dim`"""
    return -1


def mean(x, axis):
    """take the mean of each vector → the means"""
    return x.mean(dim=axis, keepdim=True)


def deviations(x, mean):
    """subtract the mean from x → the deviations from the mean"""
    return x - mean


def squares(deviations):
    """square the deviations → the squared deviations"""
    return deviations.square()


def variance(squares, axis):
    """take the mean of the squared deviations → the variances: the means of the squared deviations"""
    return squares.mean(dim=axis, keepdim=True)


def with_eps(variance, eps):
    """add eps to the variance → the variances plus eps"""
    return variance + eps


def root(with_eps):
    """take the square root of variance plus eps → the standard deviations: the square roots of variance plus eps"""
    return torch.sqrt(with_eps)


def normalized(deviations, root):
    """divide the deviations by the standard deviation → the normalized vectors"""
    return deviations / root


def stretched(normalized, weight):
    """multiply the normalized vectors by the weight → the scaled vectors"""
    return normalized * weight


def shifted(stretched, bias):
    """add the bias → the scaled and shifted vectors"""
    return stretched + bias


STEPS = InSteps(
    axis, mean, deviations, squares, variance, with_eps, root, normalized, stretched, shifted, reference=layer_norm
)


def layer_norm_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def drawn(*shape: int) -> dict[str, Tensor]:
        """Draw vectors with very different scales and means, and weights far from 1."""
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
    alike["x"][1] = 3.0  # the features of this vector have zero variance
    eps = uniform(rng, 0.3, 0.6)
    far = drawn(2, 8)
    level = float(torch.randint(850, 950, (), generator=rng))  # small enough that the squares keep all their digits
    # in each vector, three of the eight entries are larger by 1
    far["x"] = level + (torch.rand(2, 8, generator=rng).argsort(dim=-1) < 3).float()
    tiny = drawn(3, 5)
    tiny["x"] = 0.003 * normal(rng, 3, 5)
    return [
        Case({"x": torch.tensor([4.0, 0.0, 0.0, 0.0]), **nothing, "eps": 1.0}, "mean 1, variance 3, eps 1"),
        Case({"x": torch.tensor([3.0, 1.0, 1.0, 3.0]), **something, "eps": 3.0}, "mean 2, variance 1, eps 3"),
        Case(alike, "3 vectors, one with equal features"),
        Case(drawn(4, 4), "4 vectors of 4 features"),
        Case(tiny, "variances as small as eps"),
        Case(far, "numbers far from 0"),
        Case({**drawn(2, 3, 5), "eps": eps}, f"2 sentences of 3 vectors, eps {eps:.2f}"),
        Case(drawn(5, 7, 11, 13), "two leading dimensions before the sentences"),
    ]


def _row_by_row(x: Tensor, weight: Tensor, bias: Tensor, eps: float = 1e-5) -> Tensor:
    rows = [(row - row.mean()) / torch.sqrt(row.var(unbiased=False) + eps) for row in x]
    return torch.stack([row * weight + bias for row in rows])


MISTAKES = [
    Mistake(
        "over_the_whole_sentence",
        STEPS.but(axis=lambda x: tuple(range(-min(x.dim(), 2), 0))),
        STEPS.but(axis=lambda: (-2, -1)),
        summary="you compute the mean and variance over all positions of a sentence together",
        message=(
            "{summary}, so the output at each position depends on all the other positions, including padding. Which "
            "`dim` should you normalize over?"
        ),
        hints=["Change the last vector of a sentence. Should the output at the first position change?"],
    ),
    Mistake(
        "over_the_positions",
        STEPS.but(axis=lambda x: -min(x.dim(), 2)),
        STEPS.but(axis=lambda: -2),
        summary="you compute the mean and variance over the positions, the second-to-last dimension",
        message=(
            "{summary}, so the output at one position depends on the other positions. Which `dim` runs over the "
            "features?"
        ),
        hints=["For x of shape (batch, n, d), what shape should the means have?"],
    ),
    axis_from_the_front(STEPS),
    Mistake(
        "axis_dropped",
        STEPS.but(
            mean=lambda x, axis: x.mean(dim=axis),
            variance=lambda x, axis: x.var(dim=axis, unbiased=False),
        ),
        summary="you drop the dimension over which you compute the mean and variance",
        message=(
            "Your code is right for a single vector. For several vectors, means of shape (2, 3) don't broadcast "
            "against x of shape (2, 3, 5) as they should. Which argument keeps the averaged dimension?"
        ),
        hints=[
            "You subtract a tensor of shape (4,) from one of shape (4, 4). Is its first number subtracted from the "
            "first row, or from the first column?",
        ],
    ),
    Mistake(
        "no_brackets",
        STEPS.but(stretched=lambda x, mean, root, weight: weight * x - mean / root),
        STEPS.but(normalized=lambda x, mean, root: x - mean / root),
        summary="you divide only the mean, not the difference of x and the mean",
        message="{summary}: Python divides before it subtracts. Where do you need parentheses?",
        hints=[
            "What is `8 - 6 / 2` in Python?",
            "The formula divides the whole difference of x and the mean by the square root.",
            "Compute `x - mean` first, in parentheses or on a line of its own.",
        ],
    ),
    Mistake(
        "loses_digits",
        STEPS.but(variance=lambda x, axis, mean: x.square().mean(axis, keepdim=True) - mean**2),
        summary="you subtract the square of the mean from the mean of x², which loses digits if x is far from 0",
        message=(
            "Your variance is wrong for x far from 0: you subtract the square of the mean from the mean of x², two "
            "large, nearly equal numbers, and a float32 has only about 7 digits. What could you subtract from x before "
            "you square it?"
        ),
        hints=[
            "The variance of (10000, 10001) is 0.25, and x² is about 100 million. What is "
            "`torch.tensor(100000000.25).item()`?",
        ],
    ),
    eps_fixed(STEPS, 1),
    Mistake(
        "scaled_and_shifted_first",
        STEPS.but(
            x=lambda x, weight, bias: weight * x + bias,
            stretched=lambda normalized: normalized,
            shifted=lambda stretched: stretched,
        ),
        summary="you multiply by the weight and add the bias before you normalize",
        message=(
            "{summary}, so the normalization largely undoes both. Which operation should come first: normalizing, "
            "scaling or shifting?"
        ),
        hints=[
            "If you add 5 to every entry of the bias, by how much should the output change? By how much does yours "
            "change?"
        ],
    ),
    Mistake(
        "row_by_row",
        _row_by_row,
        message=(
            "You loop over the first dimension of x, so your code is right only if x has two dimensions. For a single "
            "vector, `row` is one number; for a batch, it is a whole sentence. Which `dim` should you average over?"
        ),
        hints=[
            "What is `row` if x has shape (4,)? And if it has shape (2, 3, 5)?",
            "`mean(dim=-1, keepdim=True)` averages over the features for any number of leading dimensions.",
            "Compute the mean and the variance of x itself, without a loop.",
        ],
    ),
    weighted_first(STEPS.but(x=lambda x, weight: weight * x, stretched=lambda normalized: normalized), bias=True),
]


EXERCISE = Exercise(
    reference=layer_norm,
    steps=STEPS,
    cases=layer_norm_cases,
    points=2,
    verified="Every vector has mean 0 and variance 1 over its own features, then is scaled and shifted.",
    hints=[
        "Take x = (4, 0, 0, 0) and eps = 1. What are its mean and variance, and what does the formula give for "
        "weight 1 and bias 0?",
        "Three operations: subtract the mean of each vector; divide by the square root of variance plus eps; "
        "multiply by the weight and add the bias.",
        "`x.mean(dim=-1, keepdim=True)` has shape (…, 1), so you can subtract it from x of shape (…, d). The variance "
        "is the mean of the squares of `x - mean`, again over the last dimension.",
        "`weight * (x - mean) / torch.sqrt(variance + eps) + bias`.",
    ],
    messages={
        "number_axis: 0": (
            Wording(
                "You normalize over dim 0, across the batch, as BatchNorm does, so the output for one sentence depends "
                "on the other sentences. Which `dim` runs over the features of one vector?",
                summary="you normalize over dim 0",
                hints=["For x of shape (batch, n, d), what shape should the means have?"],
            )
        ),
        "mean_by_variance: squares.sum(dim=axis, keepdim=True) / (squares.shape[-1] - 1)": (
            Wording(
                "You divide by d − 1 instead of d when you compute the variance: for (1, 3), you get 2 instead of 1. "
                "That is Bessel's correction, which `var` and `std` apply unless you pass `unbiased=False`. LayerNorm "
                "divides by d.",
                summary="you divide by d − 1 instead of d when you compute the variance",
                hints=[
                    "What is `torch.tensor([1.0, 3.0]).var()`? And with `unbiased=False`?",
                ],
            )
        ),
        "call_left_out_squares": (
            Wording(
                "You average the deviations without squaring them. Positive and negative deviations cancel, so your "
                "variance is always 0. What should you do to the deviations first?",
                summary="you average the deviations without squaring them",
                hints=[
                    "For x = (4, 0, 0, 0), what are the deviations from the mean, and what is the mean of these "
                    "deviations?"
                ],
            )
        ),
        "moved_with_eps: root": (
            Wording(
                "You add eps to the standard deviation instead of the variance. With variance 3 and eps 1, you divide "
                "by √3 + 1 ≈ 2.7 instead of √(3 + 1) = 2. Where is eps in the formula?",
                summary="you add eps to the standard deviation instead of the variance",
                hints=["If all features of a vector are equal, should you divide its deviations by eps, or by √eps?"],
            )
        ),
        "part_left_out_deviations: x": (
            Wording(
                "You never subtract the mean, so you compute RMSNorm, which comes in lesson 11. With weight 1 and bias "
                "0, the vector (3, 1) becomes (1.34, 0.45) instead of (1, −1). Where should you center each vector?",
                summary="you never subtract the mean",
                hints=["With weight 1 and bias 0, each output vector should have mean 0. What is the mean of yours?"],
            )
        ),
        "call_left_out_root": Wording(
            "You never take the square root of the variance plus eps: with variance 3 and eps 1, you divide by 4 "
            "instead of 2. What does the formula divide by?",
            summary="you never take the square root of the variance plus eps",
            hints=["If you multiply x by 10, should the output change? Does yours?"],
        ),
        "part_left_out_stretched: normalized": Wording(
            "{summary}, so every feature has the same scale. Where in the formula is `weight`?",
            summary="you never multiply by the weight",
            hints=[
                "If the weight is (1, 2, 3, 4) and the normalized vector is (1, 1, 1, 1), what should the output be?"
            ],
        ),
        "part_left_out_shifted: stretched": Wording(
            "{summary}, so with a weight of 1, every output vector has mean 0. Where in the formula is `bias`?",
            summary="you never add the bias",
            hints=["If the bias is (10, 0, 0, −10), what should an output of (1, 1, 1, 1) become?"],
        ),
        "moved_stretched": Wording(
            "{summary}, so your standard deviation depends on the weight, and a weight of 4 no longer makes the output "
            "4 times as large. In which order does the formula normalize, scale and shift?",
            summary="you multiply by the weight before you divide by the standard deviation instead of after it",
            hints=["If all weights are 4 and the bias is 0, which standard deviation should the output have?"],
        ),
        "moved_stretched: shifted": Wording(
            "{summary}, so you multiply the bias, too: a weight of 4 turns a bias of −10 into −40. In which order does "
            "the formula scale and shift?",
            summary="you multiply by the weight after you add the bias instead of before",
            hints=["For a normalized entry of 0, what should the output be: the bias, or the weight times the bias?"],
        ),
        "done_again_root: variance": (
            Wording(
                "You take the square root twice, so for a variance of 16 and eps 0, you divide by 2 instead of 4. What "
                "is under your square root: a variance, or a standard deviation as `std` returns it?",
                summary="you take the square root twice",
                hints=["What does `std` return: a variance, or the square root of a variance?"],
            )
        ),
    },
    mistakes=MISTAKES,
)
