"""How a wrong output is related to the right one, where that is simple: by a factor, a constant, or an exchange."""

import torch
from torch import Tensor

from transformer_lab.course.checking.tolerance import distance


def explain_relation(seen: Tensor, right: Tensor) -> str:
    """Return a sentence that tells how a wrong tensor is made from the right one; empty if it is in no simple way.

    What it tells is measured, not guessed: it holds for every number, within the tolerance of the checks.

    Args:
        seen: What an attempt returned.
        right: What it should have returned, of the same shape and dtype.
    """
    if right.numel() < 2 or bool((right == right.flatten()[0]).all()) or not bool(torch.isfinite(seen).all()):
        return ""  # in what way a constant is related to another number cannot be told
    if right.dim() > 1 and right.shape[-1] == right.shape[-2] and distance(seen, right.mT) <= 1:
        return "These are the expected values with the last two axes exchanged."
    if right.dtype == torch.bool:
        return "True and False are exchanged everywhere." if torch.equal(seen, ~right) else ""
    if not bool(torch.isfinite(right).all()):
        return ""
    a, b = seen.double(), right.double()
    factor, constant = float((a * b).sum() / (b * b).sum()), float((a - b).mean())
    if _agree(a, -b):
        return "Every number has the opposite sign."
    if f"{factor:.4g}" not in ("0", "1") and _agree(a, factor * b):
        return f"Every number is {factor:.4g} times what it should be."
    if _agree(a, b + constant):
        return f"Every number is {abs(constant):.4g} {'larger' if constant > 0 else 'smaller'} than it should be."
    if _agree(a.flatten().sort().values, b.flatten().sort().values):
        return "The numbers are the expected ones, but in other places."
    return ""


def _agree(one: Tensor, other: Tensor) -> bool:
    return distance(one, other) <= 1
