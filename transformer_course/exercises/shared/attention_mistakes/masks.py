"""Mistakes in reading a mask, and in hiding what it hides."""

from collections.abc import Callable
from typing import Any

import torch

from transformer_course.exercise import Mistake, Wording
from transformer_course.steps import InSteps, Step, Variant

MASK_INVERTED = Wording(
    "{summary}: what is allowed gets hidden. True means *may attend*.",
    summary="the mask is read the wrong way round",
    hints=[
        "With a mask that is True everywhere, what becomes of the scores?",
        "True means *may attend*, so what has to be hidden is where the mask is False.",
        "`scores.masked_fill(~mask, -torch.inf)`.",
    ],
)
TOLD_OF_THE_MASK = {
    "filled_with_scores: scaled.masked_fill(hidden, 0.0)": Wording(
        "Hidden scores become 0 or 1, which are scores like others, as e⁰ = 1: a hidden key still gets weight, even "
        "more than keys that match badly. Look at the number that is filled in.",
        summary="hidden scores become a number like other scores, where they should become −∞",
        hints=["What weight does a score of 0 get beside scores of -1 and 1?"],
    ),
}
"""What is said of generated mistakes in hiding what a mask hides."""


def of_the_mask(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in reading a mask, and in hiding what it hides; a mask may be None."""

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
            summary="hidden scores become low numbers, not −∞, which is not enough where something scores lower still",
            message=(
                "Hidden scores become low, but not low enough: beside a visible score that is as low, hidden keys get "
                "weight. Look at the number that is filled in or added."
            ),
            hints=[
                "One key may be seen, and its score is lower than the number for hidden ones. Which "
                "keys get the weight?"
            ],
        ),
        Mistake(
            "infinity_times_zero",
            steps.but(scores=adding_infinity).attempt,
            steps.but(scores=adding_infinity, weights=lambda scores: scores.softmax(dim=-1)).attempt,
            message=("Nearly everything is nan: an infinity is multiplied by 0. Look at where the infinity comes in."),
            hints=[
                "What is `-torch.inf * 0`?",
                "What has to be chosen, place by place, cannot be had by multiplying with infinity.",
                "`scores.masked_fill(~mask, -torch.inf)` fills without multiplying.",
            ],
        ),
        Mistake(
            "mask_after_the_softmax",
            afterwards(lambda weights, visible: weights * visible),
            summary="the mask sets weights to 0, not scores to −∞",
            message=(
                "The weights are set to 0 *after* the softmax: those that are left add up to less than 1, and the "
                "better a hidden key matches, the smaller they get. It still has a say. Look at where the mask comes "
                "in."
            ),
            hints=["Print the sums of the rows of the weights."],
        ),
        Mistake(
            "renormalized_after_the_softmax",
            afterwards(lambda weights, visible: (weights * visible) / (weights * visible).sum(dim=-1, keepdim=True)),
            afterwards(_renormalized_without_nan),
            steps.but(weights=_exponentials_times_mask),
            summary="the mask sets weights to 0, and the rest is divided by its sum, which may be 0",
            message=(
                "To multiply by the mask and divide by what is left is right on paper. But where a hidden key matches "
                "far better than the others, it drowns them before it is taken out: their weights have become 0 "
                "already, or its exponential is too large for a float. Look at where the mask comes in."
            ),
            hints=[
                "What are the exponentials and the weights of the scores 200 and 0? What is left "
                "once the first is hidden?"
            ],
        ),
        Mistake(
            "mask_transposed",
            steps.but(visible=transposed),
            steps.but(visible=transposed, fill=lambda: -1e9),  # nothing left to see: −∞ gives nan, this does not
            summary="the mask is read with queries and keys exchanged",
            message=(
                "The mask is turned round before it is used: its rows belong to the queries and its columns to the "
                "keys already. Look for a transposition of the mask."
            ),
            hints=["Which axis of the mask belongs to the keys?"],
        ),
    ]


def _where_there_is_a_mask(change: Callable[[Any, Any], Any]) -> Step:
    return lambda scaled, visible: scaled if visible is None else change(scaled, visible)


def _renormalized_without_nan(weights, visible):
    return (weights * visible / (weights * visible).sum(dim=-1, keepdim=True)).nan_to_num()


def _exponentials_times_mask(scaled, visible):
    exponentials = scaled.exp() if visible is None else scaled.exp() * visible
    return exponentials / (exponentials.sum(dim=-1, keepdim=True) + 1e-9)
