"""Bring vectors to the root mean square 1."""

import torch
from torch import Tensor

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_11_modern_block.rms_norm import mistakes
from transformer_course.exercises.lesson_11_modern_block.rms_norm.answer import STEPS
from transformer_course.exercises.shared.draw_cases import generator, normal, uniform
from transformer_course.running.case import Case
from transformer_lab.layers.norms import rms_norm


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


RMS_NORM = Exercise(
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
    told={
        "call_left_out_wide": (
            "x is squared in its own dtype, and in float16 that overflows. float32 comes too late, or not at all."
        ),
        "centred_wide": (
            "The mean is subtracted, as in LayerNorm. RMSNorm leaves it where it is. Look for a mean of x itself."
        ),
        "centred_narrow": (
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
    mistakes=mistakes.MISTAKES,
)
