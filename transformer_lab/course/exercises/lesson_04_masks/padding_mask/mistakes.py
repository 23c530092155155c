"""What goes wrong when padding is hidden."""

import torch

from transformer_lab.course.exercise import Mistake


def true_at_the_padding(tokens, pad_id):
    return (tokens == pad_id)[:, None, None, :]


def no_axes_for_heads_and_queries(tokens, pad_id):
    return tokens != pad_id


def one_axis_only(tokens, pad_id):
    return (tokens != pad_id)[:, None, :]


def axes_in_front_of_the_batch(tokens, pad_id):
    return (tokens != pad_id)[None, None]


def axes_at_the_end(tokens, pad_id):
    return (tokens != pad_id)[:, :, None, None]


def on_the_queries(tokens, pad_id):
    return (tokens != pad_id)[:, None, :, None]


def zero_is_always_padding(tokens, pad_id):
    return (tokens != 0)[:, None, None, :]


def larger_than_the_padding(tokens, pad_id):
    return (tokens > pad_id)[:, None, None, :]


def assumes_padding_at_the_end(tokens, pad_id):
    lengths = (tokens != pad_id).sum(dim=1)
    return (torch.arange(tokens.shape[1]) < lengths[:, None])[:, None, None, :]


def repeated_for_every_query(tokens, pad_id):
    n = tokens.shape[1]
    return (tokens != pad_id)[:, None, None, :].expand(-1, -1, n, n)


def pairs_of_real_tokens(tokens, pad_id):
    real = tokens != pad_id
    return real[:, None, None, :] & real[:, None, :, None]


def padding_as_numbers(tokens, pad_id):
    return (tokens != pad_id)[:, None, None, :].float()


def padding_as_whole_numbers(tokens, pad_id):
    return (tokens != pad_id)[:, None, None, :].long()


def padding_as_short_numbers(tokens, pad_id):
    return (tokens != pad_id)[:, None, None, :].int()


def padding_to_be_added(tokens, pad_id):
    hidden = (tokens == pad_id)[:, None, None, :]
    return torch.zeros(hidden.shape).masked_fill(hidden, -torch.inf)


MISTAKES = [
    Mistake(
        "true_at_the_padding",
        [true_at_the_padding],
        says=(
            "True stands at the padding: everybody looks at the padding and nobody at the tokens. In this course True "
            "means: may look."
        ),
        hints=[
            "Print the mask for one sentence. Which entries should be True?",
            "Which comparison is the opposite of equal?",
            "`!=` instead of `==`, or `~` in front.",
        ],
    ),
    Mistake(
        "no_axes_for_heads_and_queries",
        [no_axes_for_heads_and_queries],
        says=(
            "The entries are right, but the shape is (batch, n). Lined up from the right with scores of shape (batch, "
            "n_heads, n_query, n_key), the batch would meet the *queries*."
        ),
        hints=[
            "Which shape is asked for?",
            "Axes of length 1 stand for all heads and all queries.",
            "Two more axes, both between the batch and n: index with `None` or use `unsqueeze`.",
        ],
    ),
    Mistake(
        "one_axis_only",
        [one_axis_only],
        says="One axis is missing: with (batch, 1, n), the batch would meet the *heads* of the scores.",
        hints=[
            "Line the shapes up from the right: (batch, 1, n) under (batch, n_heads, n_query, n_key).",
            "How many axes does the mask need between the batch and the keys?",
            "One more axis of length 1 between the batch and n.",
        ],
    ),
    Mistake(
        "axes_in_front_of_the_batch",
        [axes_in_front_of_the_batch],
        says=(
            "The two axes stand in front of the batch, so the sentences would meet the *queries* of the scores. Right "
            "for one sentence, wrong for more."
        ),
        hints=[
            "Which shape is asked for? Which comes out for 2 sentences?",
            "The batch has to stay in front: (batch, n_heads, n_query, n_key).",
            "Index with `None` *after* the first axis.",
        ],
    ),
    Mistake(
        "axes_at_the_end",
        [axes_at_the_end],
        says="The two axes stand at the end, so the tokens would meet the *heads* of the scores.",
        hints=[
            "Which shape is asked for? Which comes out?",
            "The keys are the last axis of the scores.",
            "Index with `None` before the last axis.",
        ],
    ),
    Mistake(
        "on_the_queries",
        [on_the_queries],
        says=(
            "The padding is hidden along the queries: padding may not look, but everybody may look *at* it. Look at "
            "the axis that holds the tokens."
        ),
        hints=[
            "The scores have the shape (batch, n_heads, n_query, n_key). Which axis is filled?",
            "What must not be seen is a key.",
            "The tokens go last: both axes of length 1 come before them.",
        ],
    ),
    Mistake(
        "zero_is_always_padding",
        [zero_is_always_padding],
        says="Token 0 is hidden, whatever `pad_id` is. Not every vocabulary has its padding at 0.",
        hints=[
            "Does `pad_id` occur in the code?",
            "Try a pad_id of 5. What is hidden?",
            "Compare the tokens with `pad_id`.",
        ],
    ),
    Mistake(
        "larger_than_the_padding",
        [larger_than_the_padding],
        says="Only tokens larger than `pad_id` are real here. That is right as long as the padding is 0.",
        hints=[
            "Try a pad_id of 5 and a token 3.",
            "A token is padding if it *is* the pad_id, and only then.",
            "Compare with `!=`.",
        ],
    ),
    Mistake(
        "assumes_padding_at_the_end",
        [assumes_padding_at_the_end],
        says=(
            "The real tokens are counted, and then so many are allowed from the left. With padding in front that hides "
            "tokens and shows padding."
        ),
        hints=[
            "Try a sentence that begins with padding.",
            "No counting is needed: each token says by itself whether it is padding.",
            "Compare the tokens with `pad_id`.",
        ],
    ),
    Mistake(
        "repeated_for_every_query",
        [repeated_for_every_query],
        says=(
            "The entries are right, but they are written out for every query. One row is enough, because it is the "
            "same for all of them, and it fits any number of queries."
        ),
        hints=[
            "Which shape is asked for?",
            "In cross-attention there may be 10 queries for 3 keys. Would this mask fit?",
            "Leave out what repeats the row: `expand`, `repeat`, or a product with ones.",
        ],
    ),
    Mistake(
        "pairs_of_real_tokens",
        [pairs_of_real_tokens],
        says=(
            "Padding may not be looked at, which is right, but it may not look either: its rows are all False. What "
            "padding computes is thrown away, and rows with nothing allowed only make trouble."
        ),
        hints=[
            "Which shape is asked for?",
            "A padding mask says something about keys. What does it say about queries?",
            "Only the factor with the tokens on the last axis is needed.",
        ],
    ),
    Mistake(
        "padding_as_numbers",
        [padding_as_numbers, padding_as_whole_numbers, padding_as_short_numbers],
        says="The places are right, but the entries are numbers. A mask of this course holds True and False.",
        hints=[
            "Print `mask.dtype`. What is asked for?",
            "A comparison gives booleans by itself.",
            "Leave out what turns them into numbers.",
        ],
    ),
    Mistake(
        "padding_to_be_added",
        [padding_to_be_added],
        says=(
            "This is a table to be *added* to the scores, 0 where a query may look and -∞ where not. A mask of True "
            "and False is asked for."
        ),
        hints=[
            "Print `mask.dtype`. What is asked for?",
            "True where this table holds 0, False where it holds -∞.",
            "The comparison alone is enough, with two axes added.",
        ],
    ),
]
