"""Mistakes of one query's lookup: in how scores become weights, and in how the weighted vectors become one."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps, Variant, asking


def of_the_weights(steps: InSteps, worse: str, single: str, softmax: str) -> list[Mistake]:
    """Return the mistakes on the way from scores to weights.

    Args:
        steps: An answer with the steps ``scores`` and ``weights``.
        worse: What it means that the scores have the wrong sign.
        single: What should come out where there is a single vector to be found.
        softmax: The code of a softmax.
    """
    return [
        Mistake(
            "exponentials_not_divided",
            steps.but(weights=lambda scores: torch.exp(scores)),
            does="the exponentials of the scores are not divided by their sum",
            says=(
                "The weights are positive and do not add up to 1: `exp` is taken of the scores, and nothing divides by "
                "the sum. Look at how scores become weights."
            ),
            hints=[f"{single} Is it?"],
        ),
        Mistake(
            "softmax_twice",
            steps.but(weights=lambda weights: torch.softmax(weights, dim=-1)),
            does="a softmax is taken of the weights once more",
            says="The weights are too even: a softmax is taken of numbers that have been through one already.",
            hints=["What does a softmax make of the weights 1 and 0?"],
        ),
        Mistake(
            "worst_match_first",
            steps.but(scores=lambda scores: -scores),
            does="the scores have the wrong sign",
        ),
    ]


def of_the_sum(steps: InSteps, total: str, dim: int, vectors: str, number: str, *also: Variant) -> list[Mistake]:
    """Return the mistakes of something else than a sum.

    Args:
        steps: An answer with the step ``weighted``.
        total: The step that adds the weighted vectors up.
        dim: The axis along which it does.
        vectors: What the vectors are called.
        number: What there are as many of.
        also: Other ways of dividing their sum by their number.
    """
    return [
        Mistake(
            "averages_once_more",
            steps.but(**{total: asking(lambda weighted: weighted.mean(dim=dim), "weighted")}),
            *also,
            does=f"a mean is taken of the weighted {vectors}, not their sum",
        ),
        Mistake(
            "largest_instead_of_the_sum",
            steps.but(**{total: asking(lambda weighted: weighted.amax(dim=dim), "weighted")}),
            does=f"the largest entries of the weighted {vectors} are taken, not their sum",
        ),
    ]
