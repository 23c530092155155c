"""The answer to ``keeps_the_stream``, plainly and in steps."""

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def keeps_the_stream(layer: Callable[[Tensor], Tensor], x: Float[Tensor, "batch n d"]) -> bool:
    """Return whether all of x itself is in the layer's output, only added to: neither lost, scaled nor normalised."""
    output = layer(1000 * x)  # what sublayers add stays as it was, for their norms take the size out
    return torch.allclose(output / 1000, x, atol=0.1)


def larger(x):
    """multiply x by a large number

    the larger x: 1,000 times x
    """
    return 1000 * x


def output(layer, larger):
    """run the layer on that

    the output for the larger x
    """
    return layer(larger)


def reduced(output):
    """divide its output by that number again

    the output over 1,000
    """
    return output / 1000


def kept(reduced, x):
    """compare that with x, roughly

    whether the output over 1,000 is x, but for a little
    """
    return torch.allclose(reduced, x, atol=0.1)


STEPS = InSteps(larger, output, reduced, kept, reference=keeps_the_stream)
