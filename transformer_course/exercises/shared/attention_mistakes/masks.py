"""Mistakes in interpreting a mask and in masking out scores."""

from collections.abc import Callable
from typing import Any

import torch

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps, Step, Variant

MASK_INVERTED = Wording(
    "{summary}, so queries attend only to keys that should be hidden. In this course, True means *may attend*. Which "
    "scores should become −∞?",
    summary="you hide the keys that the mask allows",
    hints=[
        "If the mask is True everywhere, which scores do you set to −∞?",
        "True means *may attend*, so hide the scores where the mask is False.",
        "`scores.masked_fill(~mask, -torch.inf)`.",
    ],
)
MASK_MESSAGES = {
    "filled_with_scores: scaled.masked_fill(hidden, 0.0)": Wording(
        "You set masked scores to 0, which is a score like any other: e⁰ = 1, so a masked key gets more weight than "
        "an unmasked key with score −1. Which score gives a weight of 0?",
        summary="you set masked scores to an ordinary number instead of −∞",
        hints=["What weight does a score of 0 get next to scores of −1 and 1?"],
    ),
}
"""Messages for generated mistakes in masking out scores."""


def of_the_mask(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in interpreting an optional mask and in masking out scores."""

    def transposed(mask: Any) -> Any:
        return None if mask is None else mask.mT

    def filled(change: Callable[[Any, Any], Any]) -> Variant:
        return steps.but(scores=_where_there_is_a_mask(change))

    def afterwards(change: Callable[[Any, Any], Any]) -> Variant:
        def weights(scaled, visible):
            return change(scaled.softmax(dim=-1), visible) if visible is not None else scaled.softmax(dim=-1)

        return steps.but(weights=weights)

    adding_infinity = _where_there_is_a_mask(lambda scaled, visible: scaled + ~visible * -torch.inf)
    return [
        Mistake(
            "not_low_enough",
            steps.but(fill=lambda: -1e4),
            steps.but(fill=lambda: -10.0),
            filled(lambda scaled, visible: scaled + ~visible * -1e4),
            summary="you set the scores of masked keys to a large negative number instead of −∞",
            message=(
                "You set the scores of masked keys to a large negative number. If all unmasked keys have scores that "
                "low, the masked keys also get weight. Which score always gives a weight of 0?"
            ),
            hints=[
                "Suppose that the only unmasked key has a lower score than your masked keys. Which keys get the weight?"
            ],
        ),
        Mistake(
            "smallest_visible_score",
            filled(lambda scaled, visible: torch.where(visible, scaled, scaled.amin(dim=-1, keepdim=True))),
            filled(lambda scaled, visible: torch.where(visible, scaled, scaled.amin())),
            summary="you set the scores of masked keys to the smallest score instead of −∞",
            message=(
                "You set the scores of masked keys to the smallest score, so masked keys still get weight: if all the "
                "scores in a row are equal, a masked key gets as much weight as an unmasked key. Which score gives a "
                "weight of exactly 0?"
            ),
            hints=["What is `exp` of a masked key's score in your code? What should it be?"],
        ),
        Mistake(
            "infinity_times_zero",
            steps.but(scores=adding_infinity).attempt,
            steps.but(scores=adding_infinity, weights=lambda scores: scores.softmax(dim=-1)).attempt,
            message=(
                "You multiply infinity by 0, which is nan, so your output is nearly all nan. For which keys does this "
                "happen, the unmasked keys or the masked keys?"
            ),
            hints=[
                "What is `-torch.inf * 0`?",
                "Multiplying by infinity can't select entries. Choose the score of each entry instead.",
                "`scores.masked_fill(~mask, -torch.inf)` fills without multiplying.",
            ],
        ),
        Mistake(
            "mask_after_the_softmax",
            afterwards(lambda weights, visible: weights * visible),
            summary="you mask the weights after the softmax instead of the scores before it",
            message=(
                "{summary}, so the rows sum to less than 1: if a masked key has a weight of 0.9, the unmasked keys "
                "share only 0.1. At which step should you apply the mask?"
            ),
            hints=["Print `weights.sum(dim=-1)`. What should each row sum to?"],
        ),
        Mistake(
            "renormalized_after_the_softmax",
            afterwards(lambda weights, visible: (weights * visible) / (weights * visible).sum(dim=-1, keepdim=True)),
            afterwards(_renormalized_without_nan),
            steps.but(weights=_exponentials_times_mask),
            summary="you mask after `exp` and renormalize",
            message=(
                "{summary}. That is mathematically correct, but next to a masked score of 200, the weight of an "
                "unmasked score of 0 underflows to 0, or `exp` overflows. What should you apply the mask to instead?"
            ),
            hints=["What is the softmax of the scores 200 and 0? What is left once you mask the first?"],
        ),
        Mistake(
            "mask_transposed",
            steps.but(visible=transposed),
            steps.but(visible=transposed, fill=lambda: -1e9),  # in fully masked rows, −∞ gives nan but −1e9 does not
            summary="you transpose the mask",
            message=(
                "{summary}, but its rows already correspond to queries and its columns to keys, so your code crashes "
                "or hides the wrong keys. Where do you transpose the mask?"
            ),
            hints=["Which dimension of the mask corresponds to the keys?"],
        ),
    ]


def _where_there_is_a_mask(change: Callable[[Any, Any], Any]) -> Step:
    return lambda scaled, visible: scaled if visible is None else change(scaled, visible)


def _renormalized_without_nan(weights, visible):
    return (weights * visible / (weights * visible).sum(dim=-1, keepdim=True)).nan_to_num()


def _exponentials_times_mask(scaled, visible):
    exponentials = scaled.exp() if visible is None else scaled.exp() * visible
    return exponentials / (exponentials.sum(dim=-1, keepdim=True) + 1e-9)
