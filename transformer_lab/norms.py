"""Norms: keep the numbers at every position at a size that layers can be stacked on.

Each works on one position by itself, over its features; neither other positions nor other sentences take part.
``torch.nn.LayerNorm`` is used as it is, with or without ``bias``; its equation is ``layer_norm``.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn


def layer_norm(
    x: Float[Tensor, "*batch d"],
    weight: Float[Tensor, " d"],
    bias: Float[Tensor, " d"] | None = None,
    eps: float = 1e-5,
) -> Float[Tensor, "*batch d"]:
    """Bring every position to mean 0 and variance 1 over its features, then stretch and shift each feature.

    ``weight (x − mean) / √(variance + eps) + bias``: equation 4 of Ba et al. (2016), arXiv:1607.06450. The variance
    divides by d, not d − 1, and eps stands under the root.
    """
    centred = x - x.mean(dim=-1, keepdim=True)
    variance = centred.square().mean(dim=-1, keepdim=True)
    normed = centred / torch.sqrt(variance + eps) * weight
    return normed if bias is None else normed + bias


def rms_norm(x: Float[Tensor, "*batch d"], weight: Float[Tensor, " d"], eps: float = 1e-6) -> Float[Tensor, "*batch d"]:
    """Divide every position by the root mean square of its features, then stretch each feature.

    ``weight x / √(mean(x²) + eps)``: equation 4 of Zhang and Sennrich (2019), arXiv:1910.07467, with the eps that
    implementations add. Computed in float32 at least, since squares of half-precision numbers overflow early.
    """
    wide = x if x.dtype == torch.float64 else x.float()
    return (wide * torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + eps)).to(x.dtype) * weight


class RMSNorm(nn.Module):
    """``rms_norm`` with a weight that is learned: what Llama uses in place of LayerNorm.

    Args:
        d_model: How many features a position has.
        eps: Keeps a position of zeros from dividing by 0.

    >>> RMSNorm(2, eps=0.0)(torch.tensor([3.0, 4.0])).detach() * 12.5**0.5
    tensor([3., 4.])
    """

    def __init__(self, d_model: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(d_model))
        self.eps = eps

    def forward(self, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
        """Norm every position by itself."""
        return rms_norm(x, self.weight, self.eps)
