"""Source code of a file with an instructor's own exercises, as described in ``docs/grading.md``."""

OWN_EXERCISES = '''\
"""Exercises of my own, for the third week."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_course.exercise import Exercise, Mistake
from transformer_course.running.case import Case


def centered(x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
    """Subtract from each row its mean."""
    secret = x.mean(dim=-1, keepdim=True)  # a secret remark
    return x - secret


def not_kept(x):
    return x - x.mean()


class Shift(nn.Module):
    """Add a learned number to each entry."""

    def __init__(self, d: int) -> None:
        super().__init__()
        self.secret_weight = nn.Parameter(torch.zeros(d))

    def forward(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """Return x, shifted."""
        return centered(x) + self.secret_weight


def draw(seed, *shapes):
    rng = torch.Generator().manual_seed(seed)
    return [torch.randn(*shape, generator=rng) for shape in shapes]


EXERCISES = [
    Exercise(
        reference=centered,
        cases=lambda seed: [Case({"x": x}, f"rows of {x.shape[-1]}") for x in draw(seed, (2, 3), (5, 4), (64, 33))],
        mistakes=[
            Mistake("one_mean", not_kept, message="One mean is taken of all.", hints=["One.", "Two.", "Three."]),
        ],
        hints=["One.", "Two.", "Three."],
        points=3,
        verified="Right for long and short rows.",
    ),
    Exercise(
        reference=Shift,
        cases=lambda seed: [
            Case({"x": x}, "a module", kind="module", arguments={"d": 3}, parameters={"secret_weight": x[0]})
            for x in draw(seed, (2, 3), (5, 3))
        ],
        mistakes=[],
        hints=["One.", "Two.", "Three."],
        points=2,
        verified="Right.",
    ),
]
'''
