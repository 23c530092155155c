"""What goes wrong when padding and the future are hidden at once."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.decoder_mask.answer import STEPS
from transformer_course.exercises.shared import mask_mistakes, padding_mistakes

MISTAKES = [
    Mistake(
        "either_will_do",
        STEPS.but(sign=lambda: torch.logical_or),
        does="it is enough that one of the two conditions holds",
        says=(
            "A key may be attended to if it is real *or* not later: every real token of the future is visible, and so "
            "is padding in the past. Look at how the two are joined."
        ),
        hints=[
            "What does the first row of the first sentence say?",
            "Both have to allow it. For what is *forbidden* it is the other way round: either is enough.",
            "Join what is allowed by `&`, or what is forbidden by `|`.",
        ],
    ),
    Mistake(
        "exactly_one_condition",
        STEPS.but(sign=lambda: torch.logical_xor),
        does="exactly one of the two conditions has to hold",
        says=(
            "A key may be attended to if *exactly one* of the two conditions holds: if it is real, or not later, and "
            "not both. Look at the sign between the two."
        ),
        hints=[
            "What does `^` or `!=` make of True and True?",
            "The exercise names three signs: for and, or, not.",
            "`&` for and.",
        ],
    ),
    Mistake(
        "both_or_neither",
        STEPS.but(sign=lambda: lambda keys, not_later: keys == not_later),
        does="both conditions have to hold, or neither",
        says=(
            "A key may be attended to if both conditions hold, and also if *neither* does: padding in the future is "
            "visible. Look at the sign between the two."
        ),
        hints=[
            "What does `==` make of False and False?",
            "The exercise names three signs: for and, or, not.",
            "`&` for and.",
        ],
    ),
    Mistake(
        "added_up",
        STEPS.but(sign=lambda: lambda keys, not_later: keys.long() + not_later.long()),
        STEPS.but(sign=lambda: lambda keys, not_later: keys.float() + not_later.float()),
        does="the two halves are added up as numbers",
        says="The two halves are added up, so that there are 0, 1 and 2. Where are both conditions met?",
        hints=[
            "Which number is there where only one of the two holds?",
            "A mask holds True and False: True *and* True.",
        ],
    ),
    Mistake(
        "turned_round",
        # where two pairs show the same, the one of fewer changes is told: that in which one half is turned round
        STEPS.but(both=lambda both: ~both, mask=lambda mask: mask),
        does="the entries are True where attending is forbidden",
        says=(
            "Every entry is turned round: True stands where attending is forbidden. In this course True means: may "
            "attend."
        ),
        hints=[
            "What does the first query see with this mask?",
            "This is the meaning that `nn.MultiheadAttention` gives to a mask.",
            "`~` in front of the whole, or leave it out if there is one.",
        ],
    ),
    Mistake(
        "keep_and_drop_mixed",
        STEPS.but(not_later=lambda not_later: ~not_later),
        does="the causal half is True where attending is forbidden",
        says=(
            "The two halves speak different languages: for padding True means may attend, for the future it means "
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
        STEPS.but(real=lambda real: ~real),
        does="the half about padding is True at the padding",
        says=(
            "The two halves speak different languages: the causal one says what may be attended to, the other one "
            "where the padding is. So only padding is visible."
        ),
        hints=[
            "What does the first row say? What should it say?",
            "Print both halves. What does True mean in each?",
            "The half about padding should be True at the real tokens.",
        ],
    ),
    Mistake(
        "padding_in_the_future",
        STEPS.but(real=lambda real: ~real, not_later=lambda not_later: ~not_later),
        does="the entries are True for padding in the future",
        says=(
            "True stands only where a key is padding *and* comes later. Both halves say what is forbidden, and either "
            "is enough to forbid it. Look at what each half says, and at the sign between them."
        ),
        hints=[
            "What does the first row say? What should it say?",
            "Print both halves. What does True mean in each?",
            "Join what is allowed by `&`; or what is forbidden by `|`, and turn the whole round by `~`.",
        ],
    ),
    Mistake(
        "only_padding",
        STEPS.but(both=lambda keys: keys),
        STEPS.but(both=lambda keys, n: keys.expand(-1, 1, n, n)),
        does="the causal half plays no part",
        says="Padding is hidden, and the future is not: the causal half is missing.",
        hints=[
            "What may the first position look at? What does its row say?",
            "Two conditions have to hold for a key.",
            "Join it with `parts.causal_mask(n)`.",
        ],
    ),
    Mistake(
        "only_causal",
        STEPS.but(both=lambda not_later: not_later),
        STEPS.but(both=lambda tokens, not_later: not_later.expand(len(tokens), 1, -1, -1)),
        STEPS.but(both=lambda not_later: not_later[None, None]),
        does="the half about padding plays no part",
        says="The future is hidden, and padding is not: the other half is missing.",
        hints=[
            "Does `pad_id` occur in the code?",
            "Two conditions have to hold for a key.",
            "Join it with `parts.padding_mask(tokens, pad_id)`.",
        ],
    ),
    Mistake(
        "sees_what_comes_after",
        STEPS.but(not_later=lambda n, diagonal: torch.ones(n, n, dtype=torch.bool).tril(diagonal).mT),
        does="rows and columns of the triangle have changed places",
        says="The triangle is the wrong one: each position sees itself and what comes *after*.",
        hints=[
            "What does the first row say? What may the first position look at?",
            "Rows are queries, columns are keys: j ≤ i is the lower triangle.",
            "`tril`, not `triu`.",
        ],
    ),
    Mistake(
        "next_one_too",
        STEPS.but(diagonal=lambda: 1),
        does="the triangle goes one diagonal too far",
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
        STEPS.but(diagonal=lambda: -1),
        does="the diagonal itself is left out of the triangle",
        says="No position may attend to itself, so the first one may attend to nothing. Look at the diagonal.",
        hints=[
            "What does the first row say?",
            "When the token after position i is predicted, the one at i is known.",
            "`.tril()` without a number.",
        ],
    ),
    Mistake(
        "always_sees_itself",
        STEPS.but(both=lambda both: both | torch.eye(both.shape[-1], dtype=torch.bool)),
        does="every position may attend to itself, even if it is padding",
        says="{does}: True stands all along the diagonal. Padding is not to be attended to at all.",
        hints=[
            "What does the last row of a padded sentence say?",
            "A row may be all False; what becomes of it is not this mask's business.",
            "Nothing more than real keys *and* keys that are not later.",
        ],
    ),
    Mistake(
        "rows_of_nothing_opened",
        STEPS.but(both=lambda both: both | ~both.any(dim=-1, keepdim=True)),
        does="a query that may see nothing is shown everything",
        says=(
            "{does}. That avoids nan, but it lets padding and the future in; what becomes of such rows is decided in "
            "the attention."
        ),
        hints=["What should the row of a query be if all keys up to it are padding?", "Which line makes an exception?"],
    ),
    Mistake(
        "padding_does_not_look",
        STEPS.but(keys=lambda real: real[:, None, :, None]),
        does="the padding lies along the queries",
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
        STEPS.but(keys=lambda keys: keys & keys.mT),
        does="padding is hidden as a query as well",
        says=(
            "Padding is not attended to, and it may not attend either: its rows are all False. What padding computes "
            "is thrown away anyway, and empty rows only make trouble."
        ),
        hints=[
            "What does the last row of a padded sentence say?",
            "Does the exercise forbid anything to a query because it is padding?",
            "Two factors are enough: real keys, and keys that are not later.",
        ],
    ),
    Mistake(
        "no_axis_for_the_heads",
        STEPS.but(keys=lambda real: real[:, None, :]),
        does="the axis for the heads is missing",
        says=(
            "The entries are right, but {does}: with (batch, n, n), the sentences would meet the *heads* of the scores."
        ),
        hints=[
            "Which shape is asked for?",
            "Line the shapes up from the right: (batch, n, n) under (batch, n_heads, n_query, n_key).",
            "One more axis of length 1 after the batch.",
        ],
    ),
    Mistake(
        "two_axes_for_the_heads",
        STEPS.but(keys=lambda keys: keys[:, None]),
        does="there is one axis of length 1 too many",
        says="There are five axes: one too many of length 1. Look at the shape of the half about padding.",
        hints=[
            "The scores have the shape (batch, n_heads, n_query, n_key). How many axes are that?",
            "`padding_mask` has all its axes already.",
            "(batch, 1, 1, n) before the two are joined.",
        ],
    ),
    padding_mistakes.unsqueeze_of_two_axes(STEPS, "keys"),
    Mistake(
        "axis_for_the_heads_in_front",
        STEPS.but(keys=lambda real: real[None, :, None, :]),
        does="the axis for the heads stands in front of the batch",
        says="{does}, so the sentences would meet the *heads* of the scores. Right for one sentence, wrong for more.",
        hints=[
            "Which shape is asked for? Which comes out for 2 sentences?",
            "The batch has to stay in front: (batch, n_heads, n_query, n_key).",
            "(batch, 1, 1, n) before the two are joined.",
        ],
    ),
    Mistake(
        "no_axes_at_all",
        STEPS.but(keys=lambda real: real),
        STEPS.but(keys=lambda real: real[None, None]),
        does="the half about padding has no axis for the queries between batch and keys",
        says=(
            "The halves are lined up from the right, where (batch, n) meets (n, n), so the sentences meet the "
            "*queries*: a crash, or nonsense where the two are equal. Look at the shape of the half about padding."
        ),
        hints=[
            "What shape does the half about padding have? Which did `padding_mask` ask for?",
            "Axes of length 1 stand for all heads and all queries.",
            "Give it the shape (batch, 1, 1, n) before the two are joined.",
        ],
    ),
    Mistake(
        "triangle_of_numbers",
        STEPS.but(both=lambda keys, not_later: keys & not_later.float()),
        does="`&` is given a triangle of numbers",
        says="`&` joins booleans, and one side holds numbers. Look at the dtype of the triangle.",
        hints=[
            "Print `.dtype` of both halves.",
            "`torch.ones` makes numbers unless it is told otherwise.",
            "`dtype=torch.bool` when the triangle is made, or `parts.causal_mask(n)`.",
        ],
    ),
    Mistake(
        "numbers_turned_round",
        STEPS.but(both=lambda keys, n: keys & ~torch.ones(n, n).triu(1)),
        does="`~` is given a triangle of numbers",
        says="`~` turns booleans round, and here it is given numbers: it crashes. Look at the dtype of the triangle.",
        hints=[
            "Print `.dtype` of what stands behind `~`.",
            "`torch.ones` makes numbers unless it is told otherwise.",
            "`dtype=torch.bool` when the triangle is made, or `parts.causal_mask(n)`.",
        ],
    ),
    Mistake(
        "joined_by_the_word",
        STEPS.but(sign=lambda: lambda keys, not_later: keys and not_later),
        does="a whole tensor is asked whether it is true, as by the word `and`",
        says=(
            "Python's words `and`, `or` and `not` ask whether a whole tensor is true, which has no answer. Entry by "
            "entry, it takes a sign."
        ),
        hints=[
            "What does `bool(torch.tensor([True, False]))` say?",
            "The exercise names three signs: for and, or, not.",
            "`&` for and, `|` for or, `~` for not.",
        ],
    ),
    Mistake(
        "as_long_as_the_batch",
        STEPS.but(n=lambda tokens: tokens.shape[0]),
        does="the triangle is as long as there are sentences",
        says=(
            "The triangle is as long as there are *sentences*; it should be as long as they are. It crashes where the "
            "two differ. Look at which length is taken."
        ),
        hints=[
            "Which axis of `tokens` counts the tokens of a sentence?",
            "`tokens.shape[0]` and `len(tokens)` are the batch.",
        ],
    ),
    *padding_mistakes.which_tokens(STEPS),
    mask_mistakes.of_numbers(STEPS),
    mask_mistakes.to_be_added(STEPS),
    mask_mistakes.a_list(STEPS),
]
