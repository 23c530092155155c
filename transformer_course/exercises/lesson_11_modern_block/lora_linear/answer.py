"""The answer to ``LoRALinear``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_course.steps import InSteps


class LoRALinear(nn.Module):
    """Add to a frozen linear layer the product of two small matrices, which are trained in its place."""

    def __init__(self, linear: nn.Linear, rank: int, alpha: float) -> None:
        super().__init__()
        self.linear = linear.requires_grad_(False)
        self.a = nn.Parameter(torch.randn(rank, linear.in_features) / linear.in_features**0.5)
        self.b = nn.Parameter(torch.zeros(linear.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x: Float[Tensor, "*batch d_in"]) -> Float[Tensor, "*batch d_out"]:
        return self.linear(x) + self.scale * (x @ self.a.T @ self.b.T)


def base(self, x):
    """apply the frozen layer to x

    what the frozen layer makes of x
    """
    return self.linear(x)


def first(self):
    """choose `a`

    the first small matrix: `a`
    """
    return self.a


def inner(x, first):
    """multiply x by it, which leaves `rank` numbers

    the `rank` numbers in the middle: x times `a` transposed
    """
    return x @ first.T


def second(self):
    """choose `b`

    the second small matrix: `b`
    """
    return self.b


def change(inner, second):
    """multiply the result by it

    the product: x times `a` transposed times `b` transposed
    """
    return inner @ second.T


def scale(self):
    """divide alpha by the rank

    the scale: alpha / rank
    """
    return self.scale


def scaled(scale, change):
    """multiply the product by that

    the scaled product
    """
    return scale * change


def output(base, scaled):
    """add it to what the frozen layer makes of x

    the output of the frozen layer plus the scaled product
    """
    return base + scaled


STEPS = InSteps(base, first, inner, second, change, scale, scaled, output, reference=LoRALinear)
