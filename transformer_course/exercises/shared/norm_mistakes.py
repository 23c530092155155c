"""Mistakes of every norm over the features of a vector: in the axis, in what is divided by, and with the weight.

There are the arguments ``x``, ``weight`` and ``eps``, and the step ``axis``.
"""

from collections.abc import Callable
from typing import Any

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, Step, Variant


def axis_from_the_front(steps: InSteps) -> Mistake:
    """Return the mistake of an axis that is right for one number of axes."""
    return Mistake(
        "axis_from_the_front",
        steps.but(axis=lambda: 1),
        steps.but(axis=lambda: 2),
        steps.but(axis=lambda x: min(x.dim() - 1, 2)).attempt,
        steps.but(axis=lambda x: min(x.dim() - 1, 1)).attempt,
        summary="the axis is counted from the front",
        message=(
            "Right for one number of axes in front of the features, and for no other: {summary}. Look at how the axis "
            "is named."
        ),
        hints=["For x of shape (batch, n, d), which number has the axis of the features? And for x of shape (d)?"],
    )


def eps_fixed(steps: InSteps, eps: int) -> Mistake:
    """Return the mistake of a number in the place of ``eps``.

    Args:
        steps: The answer.
        eps: A number that shows what eps does.
    """
    return Mistake(
        "eps_fixed",
        *[steps.but(eps=_always(number)) for number in (1e-5, 1e-6, 1e-8, 1e-12)],
        summary="a small number is written in the place of eps",
        message="The result is the same for every eps: a small number is written into the formula in its place.",
        hints=[f"What should happen when `eps` is {eps}?"],
    )


def weighted_first(*variants: Variant | Callable[..., Any], bias: bool = False) -> Mistake:
    """Return the mistake of multiplying by the weight before anything else, made in these ways.

    Args:
        variants: The ways.
        bias: Whether a bias is added to the product.
    """
    doubled = f"what should happen to the result{', before the bias is added' if bias else ''}? It should double."
    return Mistake(
        "weighted_first",
        *variants,
        summary="`x` is multiplied by the weight before it is normalized",
        message="{summary}, so the weight also changes what x is divided by. Look at the order of the steps.",
        hints=[f"If all weights are doubled, {doubled}"],
    )


def _always(number: float) -> Step:
    return lambda: number
