"""Mistakes in loops that generate one token after another. The loops use the steps in ``generation_steps``."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps


def newest_token_only(steps: InSteps) -> Mistake:
    """Return the mistake of passing the model only the newest token."""
    return Mistake(
        "shows_the_newest_token_only",
        steps.but(shown=lambda: lambda target: target[:, -1:]),
        summary="you pass the model only the newest token",
        message=(
            "{summary}, so only your first generated token is right: after that, the model reads the newest token as "
            "if it were at position 0. Which tokens should it read in the second iteration?"
        ),
        hints=["In the third iteration, what shape should the target that you pass to the model have?"],
    )


def source_as_target(steps: InSteps) -> Mistake:
    """Return the mistake of passing the model the source twice."""
    return Mistake(
        "the_decoder_gets_the_source",
        steps.but(logits=lambda model, source: lambda shown: model(source, source)),
        summary="you pass the source to the model as its target",
        message=(
            "You pass the source to the model twice, so the model never reads the tokens that you have generated. "
            "Which tensor should you pass as the second argument?"
        ),
        hints=["In your code, can the second generated token depend on the first?"],
    )


def target_of_floats(steps: InSteps) -> Mistake:
    """Return the mistake of starting with a column of floats. The step ``start`` creates the column."""
    return Mistake(
        "target_of_floats",
        steps.but(start=lambda source, bos_id: torch.full((len(source), 1), float(bos_id))).attempt,
        message=(
            "You pass floats to the model, but token IDs must be integers to index the embedding table. `torch.zeros` "
            "and `torch.ones` return floats unless you pass a `dtype`. Which dtype does your first column have?"
        ),
        hints=[
            "Which function creates your target, and what is the `.dtype` of its result?",
            "Token IDs are row indices of the embedding table, so they must be integers.",
            "`torch.full((len(source), 1), bos_id)` returns integers if `bos_id` is an integer.",
        ],
    )
