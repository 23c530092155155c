"""The answer to ``sliding_window_mask``, plainly and in steps."""

import torch
from jaxtyping import Bool
from torch import Tensor

from transformer_course.steps import InSteps


def sliding_window_mask(length: int, window: int) -> Bool[Tensor, "length length"]:
    """Let every position look at the last ``window`` positions up to and with itself."""
    positions = torch.arange(length)
    back = positions[:, None] - positions[None, :]  # how far the query looks back
    return (back >= 0) & (back < window)


def positions(length):
    """number the positions

    the positions: 0 to `length` − 1
    """
    return torch.arange(length)


def back(positions):
    """subtract each key's position from each query's: how far the query looks back

    how far each query looks back: its position minus that of the key
    """
    return positions[:, None] - positions[None, :]


def not_ahead(back):
    """allow no key that comes later

    the keys that do not come later: those with a distance of at least 0
    """
    return back >= 0


def near(back, window):
    """allow no key that is `window` positions back, or more

    the keys that are not too far back: those with a distance below `window`
    """
    return back < window


def both(not_ahead, near):
    """join the two by *and*

    the keys for which both hold: not later *and* near enough
    """
    return not_ahead & near


def mask(both):
    """leave the matrix as it is: two axes of True and False

    the mask: that matrix, as it is
    """
    return both


STEPS = InSteps(positions, back, not_ahead, near, both, mask, reference=sliding_window_mask)
