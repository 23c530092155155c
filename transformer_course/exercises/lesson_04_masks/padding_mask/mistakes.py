"""What goes wrong when padding is hidden."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.padding_mask.answer import STEPS
from transformer_course.exercises.shared import mask_mistakes, padding_mistakes

MISTAKES = [
    Mistake(
        "no_axes_for_heads_and_queries",
        STEPS.but(per_query=lambda real: real),
        does="no axes are added for heads and queries",
        says=(
            "The entries are right, but the shape is (batch, n). Lined up from the right with scores of shape (batch, "
            "n_heads, n_query, n_key), the batch would meet the *queries*."
        ),
        hints=["Which shape is asked for?"],
    ),
    padding_mistakes.unsqueeze_of_two_axes(STEPS, "per_query"),
    Mistake(
        "axes_in_front_of_the_batch",
        STEPS.but(per_query=lambda real: real[None, None]),
        does="the axes for heads and queries stand in front of the batch",
        says=(
            "The two axes stand in front of the batch, so the sentences would meet the *queries* of the scores. Right "
            "for one sentence, wrong for more."
        ),
        hints=["Which shape is asked for? Which comes out for 2 sentences?"],
    ),
    Mistake(
        "loses_axes_of_length_1",
        STEPS.but(per_query=lambda tokens, pad_id: (tokens.squeeze() != pad_id)[..., None, None, :]),
        STEPS.but(per_query=lambda per_query: per_query.squeeze()),
        does="every axis of length 1 is removed, that of the batch or the tokens included",
        says=(
            "An axis of length 1 is lost, as `squeeze` removes *every* such axis: that of a batch of one sentence "
            "too, and that of sentences of one token. Look at what is squeezed."
        ),
        hints=["What shape does `squeeze()` make of tokens of shape (1, 3)? And of (3, 1)?"],
    ),
    Mistake(
        "repeated_for_every_query",
        STEPS.but(per_query=lambda per_query: per_query.expand(-1, -1, per_query.shape[-1], -1)),
        does="the row is written out for every query",
        says=(
            "The entries are right, but they are written out for every query. One row is enough, because it is the "
            "same for all of them, and it fits any number of queries."
        ),
        hints=["Which shape is asked for?"],
    ),
    Mistake(
        "pairs_of_real_tokens",
        STEPS.but(per_query=lambda per_query: per_query & per_query.mT),
        does="padding is hidden as a query as well",
        says=(
            "Padding may not be looked at, and it may not look either: its rows are all False. What padding computes "
            "is thrown away, and rows with nothing allowed only make trouble."
        ),
        hints=["Which shape is asked for?"],
    ),
    *padding_mistakes.which_tokens(STEPS),
    mask_mistakes.of_numbers(STEPS),
    mask_mistakes.to_be_added(STEPS),
    mask_mistakes.a_list(STEPS),
]
