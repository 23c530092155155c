"""What goes wrong in masked attention, besides what goes wrong in every attention."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.masked_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes


def untreated(**changes):
    """Return the answer that does nothing for a query that may see nothing, with other changes."""
    return STEPS.but(hidden=lambda visible: ~visible, weights=lambda probabilities: probabilities, **changes)


def mended_in_place(probabilities):
    """Write zeros into the weights themselves."""
    probabilities[probabilities.isnan()] = 0.0
    return probabilities


def added(scaled, visible):
    """Add −∞ where looking is not allowed: unlike ``masked_fill``, it lets gradients through."""
    return scaled + torch.zeros(visible.shape).masked_fill(~visible, -torch.inf)


OVER_THE_QUERIES_AND_MENDED = STEPS.but(
    hidden=lambda visible: ~visible,
    probabilities=lambda scores: scores.softmax(dim=-2),
    weights=lambda probabilities: probabilities.nan_to_num(),
)

READ_THE_WRONG_WAY_ROUND = [  # for the scores alone: which queries see nothing is read as it should be
    STEPS.but(hidden=lambda visible: visible),
    STEPS.but(hidden=lambda visible, empty: visible & ~empty),
    STEPS.but(hidden=lambda visible: visible, fill=lambda: -1e9),
]

MISTAKES = [
    Mistake(
        "nan_where_nothing_is_seen",
        untreated(),
        does="nothing is done for a query that may see nothing",
    ),
    Mistake(
        "nan_mended_too_late",
        untreated(scores=added, mixture=lambda probabilities, values: probabilities.nan_to_num() @ values).attempt,
        untreated(mixture=lambda mixture: mixture.nan_to_num()).attempt,
        says=(
            "The output is right, and the gradient is nan: inside, the empty rows still were nan, and on the way back "
            "nothing takes that away. Look at what reaches the softmax in such a row, and at what is replaced: the "
            "weights, or only the output."
        ),
        hints=[
            "Which gradients do the queries and the values get? In training, one nan ruins the whole model.",
            "The values are multiplied by the weights, so on the way back they meet the nan in them: the *weights* "
            "have to be replaced, before they meet the values. And −∞ that is *added* lets gradients through, where "
            "`masked_fill` stops them.",
            "`scores.masked_fill(~mask, -torch.inf)`, the softmax, then `weights.masked_fill(sees_nothing, 0.0)`, and "
            "only then the values.",
        ],
    ),
    Mistake(
        "mended_in_place",
        STEPS.but(hidden=lambda visible: ~visible, weights=mended_in_place).attempt,
        says=(
            "The output is right, but nothing can be learned through it: the weights are overwritten *in place*, and "
            "the softmax needs its own output again on the way back. Look at the line that replaces them."
        ),
        hints=[
            "Call it with queries that require a gradient, and `.sum().backward()` the output. What does torch say?",
            "`x[...] = 0` and names that end in `_` write into the tensor itself. Others hand out a new one.",
            "`weights = weights.masked_fill(sees_nothing, 0.0)`.",
        ],
    ),
    Mistake(
        "empty_rows_keep_their_weights",
        STEPS.but(weights=lambda probabilities: probabilities),
        does="a query that may see nothing keeps the weights of its scores",
    ),
    Mistake(
        "only_if_all_is_hidden",
        STEPS.but(empty=lambda visible: ~visible.any(), hidden=lambda visible: ~visible),
        does="queries that may see nothing are treated apart only if none may see anything",
    ),
    *attention_mistakes.also_made(attention_mistakes.of_the_mask(STEPS), "mask_inverted", *READ_THE_WRONG_WAY_ROUND),
    *attention_mistakes.of_the_scaling(STEPS),
    *attention_mistakes.also_made(
        attention_mistakes.also_with_a_low_number(attention_mistakes.of_the_softmax(STEPS)),
        "softmax_over_the_queries",
        OVER_THE_QUERIES_AND_MENDED,
    ),
    *attention_mistakes.of_the_transposition(STEPS),
    *attention_mistakes.of_the_products(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
]
