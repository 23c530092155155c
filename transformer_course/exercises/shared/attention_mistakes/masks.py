"""Mistakes in reading a mask, and in hiding what it hides."""

from collections.abc import Callable
from typing import Any

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.shared.attention_mistakes.selection import first_of
from transformer_course.steps import InSteps, Step, Variant

OF_THE_SOFTMAX = (
    "softmax_over_the_queries",
    "axis_from_the_front",
    "first_axis",
    "scores_instead_of_weights",
    "smallest_first",
)
"""Mistakes of the softmax that are the same, whichever number hides."""


def of_the_mask(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in reading a mask, and in hiding what it hides; a mask may be None."""
    inner = first_of(steps, "probabilities", "weights")
    outer = inner == "probabilities"

    def read(change: Callable[[Any], Any]) -> Variant:
        return steps.but(visible=lambda mask: None if mask is None else change(mask))

    def filled(change: Callable[[Any, Any], Any]) -> Variant:
        return steps.but(scores=_where_there_is_a_mask(change))

    def afterwards(change: Callable[[Any, Any], Any]) -> Variant:
        def weights(scaled, visible):
            return change(scaled.softmax(dim=-1), visible) if visible is not None else scaled.softmax(dim=-1)

        return steps.but(weights=weights)

    return [
        Mistake(
            "mask_inverted",
            read(lambda mask: ~mask),
            does="the mask is read the wrong way round",
            says="{does}: what is allowed gets hidden. True means *may attend*.",
            hints=["With a mask that is True everywhere, what becomes of the scores?"],
        ),
        Mistake(
            "mask_ignored",
            steps.but(scores=lambda scaled: scaled),
            does="the mask never reaches the scores",
            says="{does}, or what is made with it is lost: hidden keys get weight.",
            hints=["Does `mask` occur in the code, and is what comes out of that used?"],
        ),
        Mistake(
            "filled_with_zero",
            steps.but(fill=lambda: 0.0),
            filled(lambda scaled, visible: scaled * visible),
            steps.but(fill=lambda: 1.0).attempt,
            does="hidden scores become a number like other scores, where they should become −∞",
            says=(
                "Hidden scores become 0 or 1, which are scores like others, as e⁰ = 1: a hidden key still gets weight, "
                "even more than keys that match badly. Look at the number that is filled in."
            ),
            hints=["What weight does a score of 0 get beside scores of -1 and 1?"],
        ),
        Mistake(
            "not_low_enough",
            steps.but(fill=lambda: -1e4),
            steps.but(fill=lambda: -10.0),
            filled(lambda scaled, visible: scaled + ~visible * -1e4),
            filled(lambda scaled, visible: scaled + ~visible * -100.0).attempt,
            steps.but(fill=lambda: -1.0).attempt,
            steps.but(fill=lambda: -100.0).attempt,
            does="hidden scores become low numbers, not −∞, which is not enough where something scores lower still",
            says=(
                "Hidden scores become low, but not low enough: beside a visible score that is as low, hidden keys get "
                "weight. Look at the number that is filled in or added."
            ),
            hints=[
                "One key may be seen, and its score is lower than the number for hidden ones. Which "
                "keys get the weight?"
            ],
        ),
        Mistake(
            "mask_added",
            filled(lambda scaled, visible: scaled + visible),
            does="the mask is added to the scores, True as 1 and False as 0",
            says=(
                "The mask is added to the scores as it is, True as 1 and False as 0: hidden keys only get somewhat "
                "less weight. Look at what is added."
            ),
            hints=["By how much does a score change where the mask is False?"],
        ),
        Mistake(
            "zero_scores_hidden_too",
            filled(_hide_zeros),
            steps.but(
                scores=_where_there_is_a_mask(_hide_zeros),
                **{inner: lambda scores: scores.softmax(dim=-1).nan_to_num()},
            ),
            does="scores that are exactly 0 are hidden as well",
            says=(
                "What is hidden is recognised by a score of 0. A visible score can be 0 too: that of a query of zeros "
                "is, for every key. Look at how the scores to be filled with −∞ are found."
            ),
            hints=["What are the scores of a query of zeros?"],
        ),
        Mistake(
            "infinity_times_zero",
            filled(lambda scaled, visible: scaled + ~visible * -torch.inf).attempt,
            steps.but(fill=lambda: torch.inf).attempt,
            *(
                [
                    steps.but(
                        scores=_where_there_is_a_mask(change), weights=lambda probabilities: probabilities
                    ).attempt
                    for change in (
                        lambda scaled, visible: scaled + ~visible * -torch.inf,
                        lambda scaled, visible: scaled.masked_fill(~visible, torch.inf),
                    )
                ]
                if outer
                else []
            ),
            says=(
                "Nearly everything is nan: an infinity is multiplied by 0, or it is not −∞ that goes into the softmax. "
                "Look at where the infinity comes in."
            ),
            hints=[
                "What are `-torch.inf * 0` and the softmax of 1 and +∞?",
                "What has to be chosen, place by place, cannot be had by multiplying with infinity; and it takes -∞ to "
                "have an exponential of 0.",
                "`scores.masked_fill(~mask, -torch.inf)` fills without multiplying.",
            ],
        ),
        Mistake(
            "mask_after_the_softmax",
            afterwards(lambda weights, visible: weights * visible),
            does="the mask sets weights to 0, not scores to −∞",
            says=(
                "The weights are set to 0 *after* the softmax: those that are left add up to less than 1, and the "
                "better a hidden key matches, the smaller they get. It still has a say. Look at where the mask comes "
                "in."
            ),
            hints=["Print the sums of the rows of the weights."],
        ),
        Mistake(
            "renormalised_after_the_softmax",
            afterwards(lambda weights, visible: (weights * visible) / (weights * visible).sum(dim=-1, keepdim=True)),
            afterwards(_renormalised_without_nan),
            afterwards(
                lambda weights, visible: weights * visible / ((weights * visible).sum(dim=-1, keepdim=True) + 1e-9)
            ),
            steps.but(weights=lambda scaled, visible: _exponentials_times_mask(scaled, visible)),
            does="the mask sets weights to 0, and the rest is divided by its sum, which may be 0",
            says=(
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
            read(lambda mask: mask.mT),
            does="the mask is read with queries and keys exchanged",
            says=(
                "The mask is turned round before it is used: its rows belong to the queries and its columns to the "
                "keys already. Look for a transposition of the mask."
            ),
            hints=["Which axis of the mask belongs to the keys?"],
        ),
        Mistake(
            "one_sentence_of_the_mask",
            read(lambda mask: mask[:1] if mask.dim() > 2 else mask),
            read(lambda mask: mask[(0,) * (mask.dim() - 2)]),
            read(lambda mask: mask[:, :1] if mask.dim() == 4 else mask),
            read(lambda mask: mask[:, 0] if mask.dim() == 4 else mask).attempt,
            does="the mask of one sentence, or of one head, is used for others too",
            says=(
                "The mask of one sentence, or of one head, is used for the others too. Each may have a mask of its "
                "own. Look at what is indexed."
            ),
            hints=[
                "Which axes of the mask stand in front of the last two, and what happens to them?",
                "An axis of length 1 is stretched by itself; a longer one has something to say for each place.",
                "Use the mask as it comes.",
            ],
        ),
        Mistake(
            "some_masks_ignored",
            steps.but(visible=lambda mask, scaled: mask if mask is not None and mask.shape == scaled.shape else None)
            if not outer
            else steps.but(visible=lambda mask, scaled: mask if mask.shape == scaled.shape else torch.ones_like(mask)),
            read(lambda mask: mask if mask.dim() == 2 else torch.ones_like(mask)),
            read(lambda mask: mask if mask.dim() > 2 else torch.ones_like(mask)),
            read(lambda mask: mask if mask.dim() == 4 else torch.ones_like(mask)),
            read(lambda mask: mask if mask.dim() < 4 else torch.ones_like(mask)),
            does="masks of some shapes are not used",
            says="{does}: hidden keys get weight there. Look at the condition on the shape.",
            hints=[
                "Which shapes have the masks of the cases, and which of them are used?",
                "A mask of fewer axes, or with axes of length 1, is broadcast to the scores by itself.",
                "Use the mask whatever its shape: `scores.masked_fill(~mask, -torch.inf)`.",
            ],
        ),
    ]


def also_with_a_low_number(mistakes: list[Mistake], *more: str) -> list[Mistake]:
    """Return these mistakes, of which some are also made where −1e9 hides.

    Where nothing is left to see, −∞ gives nan and a very negative number does not; that is no second mistake.

    Args:
        mistakes: The mistakes.
        more: Names of mistakes beside those of the softmax that are also made so.
    """
    names = {*OF_THE_SOFTMAX, *more}
    return [
        m.with_ways(*m.ways, *(way.of.but(**way.changes, fill=lambda: -1e9) for way in m.variants[:1]))
        if m.name in names
        else m
        for m in mistakes
    ]


def _where_there_is_a_mask(change: Callable[[Any, Any], Any]) -> Step:
    return lambda scaled, visible: scaled if visible is None else change(scaled, visible)


def _hide_zeros(scaled, visible):
    scores = scaled * visible
    return scores.masked_fill(scores == 0, -torch.inf)


def _renormalised_without_nan(weights, visible):
    return (weights * visible / (weights * visible).sum(dim=-1, keepdim=True)).nan_to_num()


def _exponentials_times_mask(scaled, visible):
    exponentials = scaled.exp() if visible is None else scaled.exp() * visible
    return exponentials / (exponentials.sum(dim=-1, keepdim=True) + 1e-9)
