"""What goes wrong in masked attention, besides what goes wrong in every attention."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.masked_attention.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes


def untreated(**changes):
    """Return the answer that does nothing for a query that may see nothing, with other changes."""
    return STEPS.but(hidden=lambda visible: ~visible, weights=lambda probabilities: probabilities, **changes)


def as_an_index(scaled, visible, fill):
    """Fill by indexing with the mask."""
    scores = scaled.clone()
    scores[~visible] = fill
    return scores


def mended_in_place(probabilities):
    """Write zeros into the weights themselves."""
    probabilities[probabilities.isnan()] = 0.0
    return probabilities


def by_index(values, rows):
    """Write zeros into the rows."""
    values[rows] = 0
    return values


def added(scaled, visible):
    """Add −∞ where looking is not allowed: unlike ``masked_fill``, it lets gradients through."""
    return scaled + torch.zeros(visible.shape).masked_fill(~visible, -torch.inf)


OF_EMPTY_ROWS = [
    Mistake(
        "nan_where_nothing_is_seen",
        untreated(),
        does="nothing is done for a query that may see nothing",
    ),
    Mistake(
        "nan_mended_too_late",
        untreated(scores=added, mixture=lambda probabilities, values: probabilities.nan_to_num() @ values).attempt,
        untreated(mixture=lambda mixture: mixture.nan_to_num()).attempt,
        untreated(scores=added, mixture=lambda mixture: mixture.nan_to_num()).attempt,
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
    Mistake(
        "forgets_keepdim",
        STEPS.but(empty=lambda visible: ~visible.any(dim=-1), hidden=lambda visible: ~visible),
        STEPS.but(empty=lambda visible: ~visible.any(dim=-1)).attempt,
        untreated(mixture=lambda mixture, visible: mixture.masked_fill(~visible.any(dim=-1), 0.0)).attempt,
        does="what says which queries may see nothing has lost the axis of the keys",
        says=(
            "The rows in which nothing is allowed are lined up with the wrong axis: it crashes, or zeroes *columns*. "
            "Look at the shape of what says which rows they are."
        ),
        hints=["For a mask of shape (2, 3), what shape does `mask.any(dim=-1)` have?"],
    ),
    Mistake(
        "written_into_places_of_the_mask",
        STEPS.but(scores=as_an_index, weights=lambda probabilities: probabilities.nan_to_num()).attempt,
        untreated(scores=as_an_index).attempt,
        untreated(scores=as_an_index, fill=lambda: -1e9).attempt,
        STEPS.but(
            hidden=lambda visible: ~visible,
            weights=lambda probabilities, visible: by_index(probabilities, ~visible.any(dim=-1)),
        ).attempt,
        untreated(mixture=lambda mixture, visible: by_index(mixture, ~visible.any(dim=-1))).attempt,
        says=(
            "Indexing with the mask needs one of just the shape of what is indexed. It crashes as soon as the mask has "
            "to be broadcast, as one for all sentences or all heads does. Look for a function that broadcasts."
        ),
        hints=[
            "What shapes do the scores and the mask have in the case that crashes?",
            "`x[mask] = …` does not broadcast the mask. `masked_fill` and `torch.where` do.",
            "`scores.masked_fill(~mask, -torch.inf)`.",
        ],
    ),
]


def over_another_axis(mistake):
    """Return a mistake in the axis of the softmax, and the way in which nan is mended after it."""
    axes = {"softmax_over_the_queries": -2, "first_axis": 0, "axis_from_the_front": 1}
    if mistake.name not in axes:
        return mistake
    mended = STEPS.but(
        hidden=lambda visible: ~visible,
        probabilities=lambda scores: scores.softmax(dim=axes[mistake.name]),
        weights=lambda probabilities: probabilities.nan_to_num(),
    )
    return mistake.with_ways(*mistake.ways, mended)


MISTAKES = [
    *OF_EMPTY_ROWS,
    *attention_mistakes.unpaired(
        attention_mistakes.of_the_mask(STEPS),
        "mask_inverted",
        "mask_ignored",
        "filled_with_zero",
        "not_low_enough",
        "mask_added",
        "zero_scores_hidden_too",
        "mask_after_the_softmax",
        "renormalised_after_the_softmax",
        "mask_transposed",
    ),
    *attention_mistakes.without(
        [
            *attention_mistakes.unpaired(
                attention_mistakes.at_most(3, attention_mistakes.of_the_scaling(STEPS)),
                "no_scaling",
                "divides_by_d_k",
            ),
            *attention_mistakes.unpaired(
                attention_mistakes.at_most(3, attention_mistakes.of_the_width(STEPS)),
            ),
            *attention_mistakes.of_values_scaled_too(STEPS),
            *attention_mistakes.unpaired(
                [
                    over_another_axis(m)
                    for m in attention_mistakes.also_with_a_low_number(attention_mistakes.of_the_softmax(STEPS))
                ],
                "softmax_over_the_queries",
                "axis_from_the_front",
                "first_axis",
                "scores_instead_of_weights",
                "never_divided",
                "overflows",
                "smallest_first",
                "sigmoid",
                "softmax_twice",
                "softmax_over_everything",
            ),
            *attention_mistakes.unpaired(
                attention_mistakes.at_most(3, attention_mistakes.of_the_transposition(STEPS)),
                "transposes_the_batch",
            ),
            *attention_mistakes.unpaired(
                attention_mistakes.at_most(3, attention_mistakes.of_the_products(STEPS)),
                "keys_by_queries",
                "one_number_of_axes",
            ),
            *attention_mistakes.unpaired(
                attention_mistakes.at_most(3, attention_mistakes.of_the_mixture(STEPS)),
                "weights_transposed",
            ),
        ],
        "only_the_best",
        "the_whole_shape",
    ),
]
