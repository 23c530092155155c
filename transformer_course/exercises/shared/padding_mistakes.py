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
            does="only tokens larger than `pad_id` are taken for real",
            says="Only tokens larger than `pad_id` are real here. That is right as long as the padding is 0.",
            hints=["Try a pad_id of 5 and a token 3."],
        ),
        Mistake(
            "smaller_than_the_padding",
            steps.but(real=lambda tokens, pad_id: tokens < pad_id),
            steps.but(real=lambda tokens, pad_id: tokens <= pad_id).attempt,
            steps.but(real=lambda tokens, pad_id: tokens >= pad_id).attempt,
            does="an order, not equality, decides what is padding",
            says=(
                "It depends on an *order* which tokens are hidden: all on one side of `pad_id`. Ids are names, and "
                "only one of them is padding. Look at the comparison."
            ),
            hints=["Try a pad_id of 5 and the tokens 3, 5 and 7. Which should be hidden?"],
        ),
        Mistake(
            "not_of_the_number",
            steps.but(real=lambda tokens, pad_id: ~tokens == pad_id),
            does="`~` is taken of the tokens, before they are compared",
        ),
        Mistake(
            "assumes_padding_at_the_end",
            steps.but(real=lambda real: torch.arange(real.shape[1]) < real.sum(dim=1, keepdim=True)),
            does="as many tokens are allowed from the left as there are real ones",
            says=(
                "The real tokens are counted, and then so many are allowed from the left. With padding in front that "
                "hides tokens and shows padding."
            ),
            hints=["Try a sentence that begins with padding."],
        ),
        Mistake(
            "all_after_the_first_padding",
            steps.but(real=lambda real: real.int().cumprod(dim=1).bool()),
            does="all that follows the first padding is hidden",
            says="{does}, real tokens too. With padding in front, a whole sentence disappears.",
            hints=["Try a sentence that begins with padding."],
        ),
        Mistake(
            "empty_sentences_stay_open",
            steps.but(real=lambda real: real | ~real.any(dim=1, keepdim=True)),
            does="a sentence that is all padding is not hidden",
            says=(
                "A sentence of nothing but padding is left open. It is padding all the same: what becomes of a query "
                "that may attend to nothing is not this mask's business."
            ),
            hints=["Try a sentence of nothing but padding."],
        ),
        Mistake(
            "compares_the_object",
            steps.but(real=lambda tokens, pad_id: tokens is not pad_id),
            does="one answer is given for the whole tensor, as Python's `is` and `not` do",
            says=(
                "`is` and `not` of Python give one answer for a whole tensor. A comparison of each token takes a sign. "
                "Look at how the tokens are compared."
            ),
            hints=["What does `torch.tensor([1, 2]) is not 1` say? And `torch.tensor([1, 2]) != 1`?"],
        ),
    ]


def unsqueeze_of_two_axes(steps: InSteps, step: str) -> Mistake:
    """Two axes, asked for in one call, where a step puts them between the batch and the tokens."""
    return Mistake(
        "unsqueeze_of_two_axes",
        steps.but(**{step: lambda real: real.unsqueeze(1, 2)}).attempt,
        steps.but(**{step: lambda real: real.unsqueeze((1, 2))}).attempt,
        says="`unsqueeze` is given two axes. It adds one axis at a time.",
        hints=[
            "What does the error say about the arguments?",
            "Two axes are added by two calls, or by `None` in square brackets.",
            "`[:, None, None, :]`.",
        ],
    )


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
            does="only tokens with an id *above* `pad_id` are counted",
            says="Only tokens with an id above that of padding are counted. Real tokens may have smaller ids, too.",
            hints=[
                "In one case the padding is token 2. Which tokens does the comparison leave out?",
                "One token is padding, all the others are real.",
                *last_hint,
            ],
        ),
    ]
