"""The answer to ``sliding_window_mask``, plainly and in steps."""

import torch
from jaxtyping import Bool
from torch import Tensor

from transformer_lab.course.steps import InSteps


def sliding_window_mask(length: int, window: int) -> Bool[Tensor, "length length"]:
    """Let every position look at the last ``window`` positions up to and with itself."""
    positions = torch.arange(length)
    back = positions[:, None] - positions[None, :]  # how far the query looks back
    return (back >= 0) & (back < window)


def positions(length):
    """number the positions"""
    return torch.arange(length)


def back(positions):
    """subtract each key's position from each query's: how far the query looks back"""
    return positions[:, None] - positions[None, :]


def not_ahead(back):
    """allow no key that comes later"""
    return back >= 0


def near(back, window):
    """allow no key that is `window` positions back, or more"""
    return back < window


def both(not_ahead, near):
    """join the two by *and*"""
    return not_ahead & near


def mask(both):
    """leave the table as it is: two axes of True and False"""
    return both


STEPS = InSteps(positions, back, not_ahead, near, both, mask, reference=sliding_window_mask)
