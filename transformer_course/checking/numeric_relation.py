"""Describe simple relations between a wrong and a correct output: a factor, an offset or a permutation."""

import torch
from torch import Tensor

from transformer_course.checking.tolerance import distance

MAX_REMAINING_FRACTION = 0.05
MAX_ROUNDINGS = 16
MAX_FACTOR_SIZE = 512
"""Largest n for which a factor is written as 1/n, √n or 1/√n. Widths and counts are rarely larger."""
TRANSPOSED = "These are the right values with the last two dimensions swapped."


def explain_relation(observed: Tensor, right: Tensor) -> str:
    """Describe how to compute a wrong tensor from the correct tensor, or return "" if there is no simple relation.

    The relation holds for every number, within the tolerance of the checks. If the attempt's error is small, the
    relation must hold within a small fraction of this error.

    Args:
        observed: The attempt's output.
        right: The correct output, with the same shape and dtype.
    """
    if right.numel() < 2 or bool((right == right.flatten()[0]).all()):
        return ""  # a constant tensor has both a factor and an offset, so neither explains the error
    if not bool(torch.isfinite(observed).all() and torch.isfinite(right).all()):
        return ""
    is_square = right.dim() > 1 and right.shape[-1] == right.shape[-2]
    if right.dtype == torch.bool:
        if is_square and torch.equal(observed, right.mT):
            return TRANSPOSED
        return "True and False are swapped everywhere." if torch.equal(observed, ~right) else ""
    a, b = observed.double(), right.double()
    rounding = MAX_ROUNDINGS * torch.finfo(right.dtype if right.is_floating_point() else b.dtype).eps
    error = (a - b).abs()

    def explains(related: Tensor) -> bool:
        remaining, largest = (a - related).abs(), related.abs().max()
        is_small = remaining <= MAX_REMAINING_FRACTION * error + rounding * largest
        return distance(a, related) <= 1 and bool(is_small.all())

    if is_square and explains(b.mT):
        return TRANSPOSED
    factor, offset = float((a * b).sum() / (b * b).sum()), float((a - b).mean())
    if explains(-b):
        return "Every number has the wrong sign."
    if f"{factor:.4g}" not in ("0", "1") and explains(factor * b):
        return f"Every number is {factor:.4g} times {_as_root(factor)}what it should be."
    if explains(b + offset):
        return f"Every number is {abs(offset):.4g} too {'large' if offset > 0 else 'small'}."
    sorted_a, sorted_b = a.flatten().sort().values, b.flatten().sort().values
    if distance(sorted_a, sorted_b) <= 1 and (sorted_a - sorted_b).abs().max() <= MAX_REMAINING_FRACTION * error.max():
        return "These are the right numbers in the wrong places."
    return ""


def _as_root(factor: float) -> str:
    """Write a factor in parentheses as √n, 1/√n or 1/n, or return "" if it has none of these forms.

    >>> _as_root(3**-0.5), _as_root(2**0.5), _as_root(1 / 7), _as_root(0.5), _as_root(1.7001)
    ('(1/√3) ', '(√2) ', '(1/7) ', '', '')
    """
    if float(f"{factor:.4g}") == factor:
        return ""
    for power, name in ((1, "1/{}"), (2, "1/√{}"), (-2, "√{}")):
        value = abs(factor) ** -power if abs(factor) > 1e-3 else 0.0
        whole = round(value)
        if 1 < whole <= MAX_FACTOR_SIZE and abs(value - whole) < 1e-4 * whole and (power == 1 or whole**0.5 % 1):
            return f"({'-' * (factor < 0)}{name.format(whole)}) "
    return ""
