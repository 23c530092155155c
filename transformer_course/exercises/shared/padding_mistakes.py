"""Mistakes about which tokens are padding, wherever a mask hides it or a loss leaves it out.

The arguments are ``tokens`` (of a loss, ``targets``) and ``pad_id``, and there is a step ``real``.
"""

import torch

from transformer_course.exercise import Mistake
from transformer_course.steps import InSteps


def which_tokens(steps: InSteps) -> list[Mistake]:
    """Another id, another comparison, the places counted, or one sentence for all."""
    return [
        Mistake(
            "larger_than_the_padding",
            steps.but(real=lambda tokens, pad_id: tokens > pad_id),
            summary="only tokens larger than `pad_id` are taken for real",
            message="Only tokens larger than `pad_id` are real here. That is right as long as the padding is 0.",
            hints=["Try a pad_id of 5 and a token 3."],
        ),
        Mistake(
            "assumes_padding_at_the_end",
            steps.but(real=lambda real: torch.arange(real.shape[1]) < real.sum(dim=1, keepdim=True)),
            summary="as many tokens are allowed from the left as there are real ones",
            message=(
                "The real tokens are counted, and then so many are allowed from the left. With padding in front that "
                "hides tokens and shows padding."
            ),
            hints=["Try a sentence that begins with padding."],
        ),
    ]


def which_targets(steps: InSteps, *last_hint: str, below: str) -> list[Mistake]:
    """Return what a loss takes for padding instead: another id, or an order.

    Args:
        steps: The answer.
        last_hint: What the last hint says, if not how the step ``real`` is done.
        below: The name of the mistake that leaves out all tokens below the padding.
    """
    return [
        Mistake(
            below,
            steps.but(real=lambda targets, pad_id: targets > pad_id),
            summary="only tokens with an id *above* `pad_id` are counted",
            message="Only tokens with an id above that of padding are counted. Real tokens may have smaller ids, too.",
            hints=[
                "In one case the padding is token 2. Which tokens does the comparison leave out?",
                "One token is padding, all the others are real.",
                *last_hint,
            ],
        ),
    ]
