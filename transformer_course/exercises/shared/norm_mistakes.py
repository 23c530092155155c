"""Mistakes in norms over features: the dimension, eps and the weight.

The answer has the arguments ``x``, ``weight`` and ``eps`` and the step ``axis``.
"""

from collections.abc import Callable
from typing import Any

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, Step, Variant


def axis_from_the_front(steps: InSteps) -> Mistake:
    """Return the mistake of counting ``dim`` from the front, which is correct only for some input shapes."""
    return Mistake(
        "axis_from_the_front",
        steps.but(axis=lambda: 1),
        steps.but(axis=lambda: 2),
        steps.but(axis=lambda x: min(x.dim() - 1, 2)).attempt,
        steps.but(axis=lambda x: min(x.dim() - 1, 1)).attempt,
        summary="you count the dimension of the features from the front",
        message=(
            "{summary}, so your code is right only for some numbers of leading dimensions. How can you refer to the "
            "last dimension of any tensor?"
        ),
        hints=["Which dimension holds the features if x has shape (batch, n, d)? And if it has shape (d,)?"],
    )


def eps_fixed(steps: InSteps, eps: int) -> Mistake:
    """Return the mistake of using a fixed number instead of ``eps``.

    Args:
        steps: The answer.
        eps: A value of eps for which the mistake is detected.
    """
    return Mistake(
        "eps_fixed",
        *[steps.but(eps=_always(number)) for number in (1e-5, 1e-6, 1e-8, 1e-12)],
        summary="you use a fixed number instead of `eps`",
        message="{summary}, so your result is the same for every `eps`. Which number in your code should be `eps`?",
        hints=[f"What should happen if `eps` is {eps}?"],
    )


def weighted_first(*variants: Variant | Callable[..., Any], bias: bool = False) -> Mistake:
    """Return the mistake of multiplying by the weight first, with these variants.

    Args:
        variants: Answers that multiply by the weight first.
        bias: Whether a bias is added to the product.
    """
    doubled = f"what should happen to the result{', before the bias is added' if bias else ''}? What happens to yours?"
    return Mistake(
        "weighted_first",
        *variants,
        summary="you multiply `x` by the weight before normalizing",
        message=(
            f"{{summary}}, so the weight also changes {'the mean and the variance' if bias else 'the RMS'}. Which "
            "should come first, normalizing or multiplying by the weight?"
        ),
        hints=[f"If you double all the weights, {doubled}"],
    )


def _always(number: float) -> Step:
    return lambda: number
