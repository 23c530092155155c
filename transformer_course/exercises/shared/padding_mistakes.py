"""Mistakes in identifying the padding that a mask hides or a loss ignores.

The answer has the arguments ``tokens`` (in a loss, ``targets``) and ``pad_id`` and the step ``real``.
"""

import torch

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps


def which_tokens(steps: InSteps) -> list[Mistake]:
    """Return the mistakes in identifying the real tokens for a mask."""
    return [
        Mistake(
            "larger_than_the_padding",
            steps.but(real=lambda tokens, pad_id: tokens > pad_id),
            summary="you treat only token IDs greater than `pad_id` as real",
            message=(
                "{summary}, which is right only if `pad_id` is 0: with a `pad_id` of 5, you also hide token 3. Which "
                "comparison is False only for padding?"
            ),
            hints=["Which tokens are real if `pad_id` is 5?"],
        ),
        Mistake(
            "assumes_padding_at_the_end",
            steps.but(real=lambda real: torch.arange(real.shape[1]) < real.sum(dim=1, keepdim=True)),
            summary="you count the real tokens and allow that many keys from the left",
            message=(
                "{summary}. If the padding comes first, you hide real tokens and let queries attend to padding. For "
                "the tokens 0, 0, 7, 8 and a `pad_id` of 0, which entries should be True?"
            ),
            hints=["What does your code return for a sentence that begins with padding?"],
        ),
    ]


def which_targets(steps: InSteps, *last_hint: str, below: str) -> list[Mistake]:
    """Return the mistakes in identifying the real targets for a loss.

    Args:
        steps: The answer.
        last_hint: The last hint, if it should not be composed from the step ``real``.
        below: Name for the mistake of ignoring all tokens below the padding id.
    """
    return [
        Mistake(
            below,
            steps.but(real=lambda targets, pad_id: targets > pad_id),
            summary="you count only tokens with an ID above `pad_id`",
            message=(
                "{summary}, but real tokens can have smaller IDs: with a `pad_id` of 2, you leave out tokens 0 and 1. "
                "Which comparison is False only for padding?"
            ),
            hints=[
                "Which tokens are real if `pad_id` is 2?",
                "Only the token `pad_id` is padding. All other tokens are real.",
                *last_hint,
            ],
        ),
    ]
