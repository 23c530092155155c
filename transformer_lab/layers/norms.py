"""Norms, which keep the scale of the features constant regardless of the number of layers.

A norm works over the features of one position, independently of other positions and sentences. The models use
``torch.nn.LayerNorm``, with or without ``bias``, and ``torch.nn.RMSNorm``; the functions show what they compute.
"""

from typing import Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor, nn

from transformer_lab.checks import check_choice

NormName = Literal["layer", "rms"]


def layer_norm(
    x: Float[Tensor, "*batch d"], weight: Float[Tensor, " d"], bias: Float[Tensor, " d"], eps: float = 1e-5
) -> Float[Tensor, "*batch d"]:
    """Normalize every position to mean 0 and variance 1 over its features, then scale and shift each feature.

    ``weight (x − mean) / √(variance + eps) + bias``: equation 4 of Ba et al. (2016), arXiv:1607.06450. The variance
    divides by d, not d − 1. eps is added inside the square root and prevents a division by 0 if all features are equal.

    >>> layer_norm(torch.tensor([[1.0, 2.0, 6.0]]), torch.ones(3), torch.zeros(3), eps=0.0) * (14 / 3) ** 0.5
    tensor([[-2., -1.,  3.]])
    """
    wide = x.to(torch.promote_types(x.dtype, torch.float32))  # squares of 256 or more overflow in float16
    deviations = wide - wide.mean(dim=-1, keepdim=True)
    variance = deviations.square().mean(dim=-1, keepdim=True)
    return weight * (deviations / torch.sqrt(variance + eps)).to(x.dtype) + bias


def rms_norm(x: Float[Tensor, "*batch d"], weight: Float[Tensor, " d"], eps: float = 1e-6) -> Float[Tensor, "*batch d"]:
    """Divide every position by the root mean square of its features, then scale each feature.

    ``weight x / √(mean(x²) + eps)``: equation 4 of Zhang and Sennrich (2019), arXiv:1910.07467, plus the usual eps.

    >>> rms_norm(torch.tensor([[1.0, 7.0]]), weight=torch.ones(2), eps=0.0) * 5
    tensor([[1., 7.]])
    """
    wide = x.to(torch.promote_types(x.dtype, torch.float32))  # squares of 256 or more overflow in float16
    root_mean_square = torch.sqrt(wide.square().mean(dim=-1, keepdim=True) + eps)
    return weight * (wide / root_mean_square).to(x.dtype)


def make_norm(name: NormName, d: int, eps: float, bias: bool = True) -> nn.LayerNorm | nn.RMSNorm:
    """Return torch's module for the norm with this name.

    Args:
        name: Name of the norm.
        d: Number of features.
        eps: Prevents division by 0.
        bias: Whether the norm has a bias; RMSNorm never has one.

    Raises:
        ValueError: The name is unknown.

    >>> make_norm("rms", 8, eps=1e-6)
    RMSNorm((8,), eps=1e-06, elementwise_affine=True)
    """
    check_choice("norm", name, get_args(NormName))
    return nn.LayerNorm(d, eps, bias=bias) if name == "layer" else nn.RMSNorm(d, eps)
