"""The output of attention by its formula, for tests that take any attention."""

from typing import Any

from torch import Tensor

from transformer_lab.attention.dot_product import scaled_dot_product_attention


def mix(*inputs: Tensor | None, **options: Any) -> Tensor:
    """Return the output of the formula without its weights."""
    return scaled_dot_product_attention(*inputs, **options)[0]
