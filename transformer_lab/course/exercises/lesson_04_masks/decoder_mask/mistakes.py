"""What goes wrong when padding and the future are hidden at once."""

import torch

from transformer_lab.course.exercise import Mistake


def _real(tokens, pad_id):
    return (tokens != pad_id)[:, None, None, :]


def _lower(tokens, diagonal=0):
    n = tokens.shape[1]
    return torch.ones(n, n, dtype=torch.bool).tril(diagonal)


def either_will_do(tokens, pad_id):
    return _real(tokens, pad_id) | _lower(tokens)


def turned_round(tokens, pad_id):
    return ~(_real(tokens, pad_id) & _lower(tokens))


def keep_and_drop_mixed(tokens, pad_id):
    return _real(tokens, pad_id) & ~_lower(tokens)


def padding_kept_and_tokens_dropped(tokens, pad_id):
    return ~_real(tokens, pad_id) & _lower(tokens)


def only_padding(tokens, pad_id):
    return _real(tokens, pad_id)


def only_padding_for_every_query(tokens, pad_id):
    n = tokens.shape[1]
    return _real(tokens, pad_id).expand(-1, -1, n, n)


def only_causal(tokens, pad_id):
    return _lower(tokens)


def only_causal_for_every_sentence(tokens, pad_id):
    return _lower(tokens).expand(len(tokens), 1, -1, -1)


def sees_what_comes_after(tokens, pad_id):
    return _real(tokens, pad_id) & _lower(tokens).mT


def next_one_too(tokens, pad_id):
    return _real(tokens, pad_id) & _lower(tokens, 1)


def not_itself(tokens, pad_id):
    return _real(tokens, pad_id) & _lower(tokens, -1)


def padding_does_not_look(tokens, pad_id):
    return _real(tokens, pad_id).mT & _lower(tokens)


def padding_neither_looks_nor_is_seen(tokens, pad_id):
    real = _real(tokens, pad_id)
    return real & real.mT & _lower(tokens)


def no_axis_for_the_heads(tokens, pad_id):
    return (tokens != pad_id)[:, None, :] & _lower(tokens)


def no_axes_at_all(tokens, pad_id):
    return (tokens != pad_id) & _lower(tokens)


def axes_in_front(tokens, pad_id):
    return (tokens != pad_id)[None, None] & _lower(tokens)


def hides_token_zero(tokens, pad_id):
    return _real(tokens, 0) & _lower(tokens)


def decoder_mask_of_numbers(tokens, pad_id):
    return (_real(tokens, pad_id) & _lower(tokens)).float()


def decoder_mask_of_whole_numbers(tokens, pad_id):
    return (_real(tokens, pad_id) & _lower(tokens)).long()


def decoder_mask_of_short_numbers(tokens, pad_id):
    return (_real(tokens, pad_id) & _lower(tokens)).int()


def triangle_of_numbers(tokens, pad_id):
    n = tokens.shape[1]
    return _real(tokens, pad_id) & torch.ones(n, n).tril()


def joined_by_the_word(tokens, pad_id):
    return _real(tokens, pad_id) and _lower(tokens)


def as_long_as_the_batch(tokens, pad_id):
    batch = tokens.shape[0]
    return _real(tokens, pad_id) & torch.ones(batch, batch, dtype=torch.bool).tril()


MISTAKES = [
    Mistake(
        "either_will_do",
        [either_will_do],
        says=(
            "A key may be looked at if it is real *or* not later: every real token of the future is visible, and so is "
            "padding in the past. Look at how the two are joined."
        ),
        hints=[
            "What does the first row of the first sentence say?",
            "Both have to allow it. For what is *forbidden* it is the other way round: either is enough.",
            "Join what is allowed by `&`, or what is forbidden by `|`.",
        ],
    ),
    Mistake(
        "turned_round",
        [turned_round],
        says="Every entry is turned round: True stands where looking is forbidden. In this course True means: may look.",
        hints=[
            "What does the first query see with this mask?",
            "This is the meaning that `nn.MultiheadAttention` gives to a mask.",
            "`~` in front of the whole, or leave it out if there is one.",
        ],
    ),
    Mistake(
        "keep_and_drop_mixed",
        [keep_and_drop_mixed],
        says=(
            "The two halves speak different languages: for padding True means may look, for the future it means "
            "forbidden. So only the future is visible."
        ),
        hints=[
            "What does the last row say? What should it say?",
            "Print both halves. What does True mean in each?",
            "The causal half should be True at and below the diagonal.",
        ],
    ),
    Mistake(
        "padding_kept_and_tokens_dropped",
        [padding_kept_and_tokens_dropped],
        says=(
            "The two halves speak different languages: the causal one says what may be looked at, the other one where "
            "the padding is. So only padding is visible."
        ),
        hints=[
            "What does the first row say? What should it say?",
            "Print both halves. What does True mean in each?",
            "The half about padding should be True at the real tokens.",
        ],
    ),
    Mistake(
        "only_padding",
        [only_padding, only_padding_for_every_query],
        says="Padding is hidden, and the future is not: the causal half is missing.",
        hints=[
            "What may the first position look at? What does its row say?",
            "Two conditions have to hold for a key.",
            "Join it with `parts.causal_mask(n)`.",
        ],
    ),
    Mistake(
        "only_causal",
        [only_causal, only_causal_for_every_sentence],
        says="The future is hidden, and padding is not: the other half is missing.",
        hints=[
            "Does `pad_id` occur in the code?",
            "Two conditions have to hold for a key.",
            "Join it with `parts.padding_mask(tokens, pad_id)`.",
        ],
    ),
    Mistake(
        "sees_what_comes_after",
        [sees_what_comes_after],
        says="The triangle is the wrong one: each position sees itself and what comes *after*.",
        hints=[
            "What does the first row say? What may the first position look at?",
            "Rows are queries, columns are keys: j ≤ i is the lower triangle.",
            "`tril`, not `triu`.",
        ],
    ),
    Mistake(
        "next_one_too",
        [next_one_too],
        says=(
            "Every position may also look at the *next* token, the one it has to predict. Look at the diagonal where "
            "the triangle ends."
        ),
        hints=[
            "What does the first row say?",
            "Which diagonal is the last that is allowed?",
            "`.tril()` without a number.",
        ],
    ),
    Mistake(
        "not_itself",
        [not_itself],
        says="No position may look at itself, so the first one may look at nothing. Look at the diagonal.",
        hints=[
            "What does the first row say?",
            "When the token after position i is predicted, the one at i is known.",
            "`.tril()` without a number.",
        ],
    ),
    Mistake(
        "padding_does_not_look",
        [padding_does_not_look],
        says=(
            "Padding is hidden along the queries: it may not look, but may be looked *at*. Look at the axis that holds "
            "the tokens."
        ),
        hints=[
            "Which axis of (batch, 1, n_query, n_key) should the tokens lie along?",
            "What must not be seen is a key.",
            "(batch, 1, 1, n), and not (batch, 1, n, 1).",
        ],
    ),
    Mistake(
        "padding_neither_looks_nor_is_seen",
        [padding_neither_looks_nor_is_seen],
        says=(
            "Padding is not looked at, which is right, but it may not look either: its rows are all False. What "
            "padding computes is thrown away anyway, and empty rows only make trouble."
        ),
        hints=[
            "What does the last row of a padded sentence say?",
            "Does the exercise forbid anything to a query because it is padding?",
            "Two factors are enough: real keys, and keys that are not later.",
        ],
    ),
    Mistake(
        "no_axis_for_the_heads",
        [no_axis_for_the_heads],
        says=(
            "The entries are right, but the axis for the heads is missing: with (batch, n, n), the sentences would "
            "meet the *heads* of the scores."
        ),
        hints=[
            "Which shape is asked for?",
            "Line the shapes up from the right: (batch, n, n) under (batch, n_heads, n_query, n_key).",
            "One more axis of length 1 after the batch.",
        ],
    ),
    Mistake(
        "no_axes_at_all",
        [no_axes_at_all, axes_in_front],
        says=(
            "The halves are lined up from the right, where (batch, n) meets (n, n), so the sentences meet the *queries*: "
            "a crash, or nonsense where the two are equal. Look at the shape of the half about padding."
        ),
        hints=[
            "What shape does the half about padding have? Which did `padding_mask` ask for?",
            "Axes of length 1 stand for all heads and all queries.",
            "Give it the shape (batch, 1, 1, n) before the two are joined.",
        ],
    ),
    Mistake(
        "hides_token_zero",
        [hides_token_zero],
        says="Token 0 is hidden, whatever `pad_id` is. Not every vocabulary has its padding at 0.",
        hints=[
            "Does `pad_id` occur in the code?",
            "Try a pad_id of 5. What is hidden?",
            "Compare the tokens with `pad_id`.",
        ],
    ),
    Mistake(
        "triangle_of_numbers",
        [triangle_of_numbers],
        says="`&` joins booleans, and one side holds numbers. Look at the dtype of the triangle.",
        hints=[
            "Print `.dtype` of both halves.",
            "`torch.ones` makes numbers unless it is told otherwise.",
            "`dtype=torch.bool` when the triangle is made, or `parts.causal_mask(n)`.",
        ],
    ),
    Mistake(
        "joined_by_the_word",
        [joined_by_the_word],
        says=(
            "Python's words `and`, `or` and `not` ask whether a whole tensor is true, which has no answer. Entry by entry, "
            "it takes a sign."
        ),
        hints=[
            "What does `bool(torch.tensor([True, False]))` say?",
            "The exercise names three signs: for and, or, not.",
            "`&` for and, `|` for or, `~` for not.",
        ],
    ),
    Mistake(
        "as_long_as_the_batch",
        [as_long_as_the_batch],
        says=(
            "The triangle is as long as there are *sentences*; it should be as long as they are. It crashes where the "
            "two differ. Look at which length is taken."
        ),
        hints=[
            "Which axis of `tokens` counts the tokens of a sentence?",
            "`tokens.shape[0]` and `len(tokens)` are the batch.",
            "`tokens.shape[1]`.",
        ],
    ),
    Mistake(
        "decoder_mask_of_numbers",
        [decoder_mask_of_numbers, decoder_mask_of_whole_numbers, decoder_mask_of_short_numbers],
        says="The places are right, but the entries are numbers. A mask of this course holds True and False.",
        hints=[
            "Print `mask.dtype`. What is asked for?",
            "`&` of two tensors of booleans gives booleans.",
            "Join the two by `&`, or put `.bool()` at the end.",
        ],
    ),
]
