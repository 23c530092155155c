"""Dropout that draws a quarter as many random numbers: each decides for four features."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

LEVELS = 2**16
"""Probabilities are multiples of 1 / LEVELS."""


def dropout(module: nn.Module, x: Float[Tensor, "*batch d"]) -> Float[Tensor, "*batch d"]:
    """Return what a dropout module returns, in half the time on a CPU, with other random numbers.

    Torch draws a random number for each feature. Here 64 random bits decide for four features, each of which is
    dropped if its 16 bits, as a number, are among the lowest. The probability is rounded to a multiple of 2⁻¹⁶, and
    what is left is scaled by the rounded one, so that the expected value stays exact.

    Args:
        module: It is called as it is if it is not torch's ``nn.Dropout``, if nothing is dropped, or on an accelerator.
        x: The features.
    """
    if type(module) is not nn.Dropout or not module.training or not 0.0 < module.p < 1.0 or x.device.type != "cpu":
        return module(x)
    dropped = round(module.p * LEVELS)
    n_draws = -(-x.numel() // 4)
    draws = torch.empty(n_draws, dtype=torch.int64).random_(-(2**63), None)
    keep = torch.empty(x.shape, dtype=x.dtype)  # numbers at once: to turn truth values into them takes as long again
    torch.ge(draws.view(torch.int16)[: x.numel()].view(x.shape), dropped - LEVELS // 2, out=keep)
    return x * keep.mul_(LEVELS / (LEVELS - dropped))
