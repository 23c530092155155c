"""Bring vectors to mean 0 and variance 1."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_06_encoder.layer_norm import mistakes_axes as where
from transformer_lab.course.exercises.lesson_06_encoder.layer_norm import mistakes_variance
from transformer_lab.course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_lab.course.running.case import Case


def layer_norm(
    x: Float[Tensor, "*batch d"], weight: Float[Tensor, " d"], bias: Float[Tensor, " d"], eps: float = 1e-5
) -> Float[Tensor, "*batch d"]:
    """Bring every vector to mean 0 and variance 1 over its features, then stretch and shift each feature."""
    mean = x.mean(dim=-1, keepdim=True)
    variance = (x - mean).square().mean(dim=-1, keepdim=True)
    return weight * (x - mean) / torch.sqrt(variance + eps) + bias


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
    alike = drawn(3, 4)
    alike["x"][1] = 3.0  # these four have no variance
    eps = uniform(rng, 0.3, 0.6)
    return [
        Case({"x": torch.tensor([4.0, 0.0, 0.0, 0.0]), **nothing, "eps": 1.0}, "mean 1, variance 3, eps 1"),
        Case(alike, "3 vectors, one with all features alike"),
        Case({**drawn(2, 3, 5), "eps": eps}, f"2 sentences of 3 vectors, eps {eps:.2f}"),
        Case(drawn(5, 7, 11, 13), "two axes in front of the sentences"),
    ]


LAYER_NORM = Exercise(
    reference=layer_norm,
    cases=layer_norm_cases,
    points=2,
    verified="Every vector has mean 0 and variance 1 over its own features, then is stretched and shifted. Next: "
    "another norm beside it.",
    hints=[
        "Three steps: take the mean of each vector away; divide by the root of variance plus eps; multiply by the "
        "weight and add the bias.",
        "`x.mean(dim=-1, keepdim=True)` has the shape (…, 1), so it can be subtracted from x of shape (…, d).",
        "The variance is the mean of the squares of `x - mean`, again over the last axis with `keepdim=True`.",
        "`weight * (x - mean) / torch.sqrt(variance + eps) + bias`.",
    ],
    mistakes=[*where.MISTAKES, *mistakes_variance.MISTAKES],
)
