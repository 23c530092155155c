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
        hints=["What does the first row of the first sentence say?"],
    ),
    Mistake(
        "exactly_one_condition",
        STEPS.but(sign=lambda: torch.logical_xor),
        does="exactly one of the two conditions has to hold",
        says=(
            "A key may be attended to if *exactly one* of the two conditions holds: if it is real, or not later, and "
            "not both. Look at the sign between the two."
        ),
        hints=["What does `^` or `!=` make of True and True?"],
    ),
    Mistake(
        "both_or_neither",
        STEPS.but(sign=lambda: lambda keys, not_later: keys == not_later),
        does="both conditions have to hold, or neither",
        says=(
            "A key may be attended to if both conditions hold, and also if *neither* does: padding in the future is "
            "visible. Look at the sign between the two."
        ),
        hints=["What does `==` make of False and False?"],
    ),
    Mistake(
        "added_up",
        STEPS.but(sign=lambda: lambda keys, not_later: keys.long() + not_later.long()),
        STEPS.but(sign=lambda: lambda keys, not_later: keys.float() + not_later.float()),
        does="the two halves are added up as numbers",
        says="The two halves are added up, so that there are 0, 1 and 2. Where are both conditions met?",
        hints=["Which number is there where only one of the two holds?"],
    ),
    Mistake(
        "turned_round",
        # where two pairs show the same, the one of fewer changes is told: that in which one half is turned round
        STEPS.but(both=lambda both: ~both, mask=lambda mask: mask),
        does="the entries are True where attending is forbidden",
    ),
    Mistake(
        "keep_and_drop_mixed",
        STEPS.but(not_later=lambda not_later: ~not_later),
        does="the causal half is True where attending is forbidden",
        says=(
            "The two halves speak different languages: for padding True means may attend, for the future it means "
            "forbidden. So only the future is visible."
        ),
        hints=["What does the last row say? What should it say?"],
    ),
    Mistake(
        "padding_kept_and_tokens_dropped",
        STEPS.but(real=lambda real: ~real),
        does="the half about padding is True at the padding",
    ),
    Mistake(
        "padding_in_the_future",
        STEPS.but(real=lambda real: ~real, not_later=lambda not_later: ~not_later),
        does="the entries are True for padding in the future",
        says=(
            "True stands only where a key is padding *and* comes later. Both halves say what is forbidden, and either "
            "is enough to forbid it. Look at what each half says, and at the sign between them."
        ),
        hints=["What does the first row say? What should it say?"],
    ),
    Mistake(
        "only_padding",
        STEPS.but(both=lambda keys: keys),
        STEPS.but(both=lambda keys, n: keys.expand(-1, 1, n, n)),
        does="the causal half plays no part",
        says="Padding is hidden, and the future is not: the causal half is missing.",
        hints=["What may the first position look at? What does its row say?"],
    ),
    Mistake(
        "only_causal",
        STEPS.but(both=lambda not_later: not_later),
        STEPS.but(both=lambda tokens, not_later: not_later.expand(len(tokens), 1, -1, -1)),
        STEPS.but(both=lambda not_later: not_later[None, None]),
        does="the half about padding plays no part",
        says="The future is hidden, and padding is not: the other half is missing.",
        hints=["Does `pad_id` occur in the code?"],
    ),
    Mistake(
        "sees_what_comes_after",
        STEPS.but(not_later=lambda n, diagonal: torch.ones(n, n, dtype=torch.bool).tril(diagonal).mT),
        does="rows and columns of the triangle have changed places",
    ),
    Mistake(
        "next_one_too",
        STEPS.but(diagonal=lambda: 1),
        does="the triangle goes one diagonal too far",
    ),
    Mistake(
        "not_itself",
        STEPS.but(diagonal=lambda: -1),
        does="the diagonal itself is left out of the triangle",
    ),
    Mistake(
        "always_sees_itself",
        STEPS.but(both=lambda both: both | torch.eye(both.shape[-1], dtype=torch.bool)),
        does="every position may attend to itself, even if it is padding",
        says="{does}: True stands all along the diagonal. Padding is not to be attended to at all.",
        hints=["What does the last row of a padded sentence say?"],
    ),
    Mistake(
        "rows_of_nothing_opened",
        STEPS.but(both=lambda both: both | ~both.any(dim=-1, keepdim=True)),
        does="a query that may see nothing is shown everything",
        says=(
            "{does}. That avoids nan, but it lets padding and the future in; what becomes of such rows is decided in "
            "the attention."
        ),
        hints=["What should the row of a query be if all keys up to it are padding?"],
    ),
    Mistake(
        "padding_does_not_look",
        STEPS.but(keys=lambda real: real[:, None, :, None]),
        does="the padding lies along the queries",
    ),
    Mistake(
        "padding_neither_looks_nor_is_seen",
        STEPS.but(keys=lambda keys: keys & keys.mT),
        does="padding is hidden as a query as well",
        says=(
            "Padding is not attended to, and it may not attend either: its rows are all False. What padding computes "
            "is thrown away anyway, and empty rows only make trouble."
        ),
        hints=["What does the last row of a padded sentence say?"],
    ),
    Mistake(
        "no_axis_for_the_heads",
        STEPS.but(keys=lambda real: real[:, None, :]),
        does="the axis for the heads is missing",
        says=(
            "The entries are right, but {does}: with (batch, n, n), the sentences would meet the *heads* of the scores."
        ),
        hints=["Which shape is asked for?"],
    ),
    Mistake(
        "two_axes_for_the_heads",
        STEPS.but(keys=lambda keys: keys[:, None]),
        does="there is one axis of length 1 too many",
        says="There are five axes: one too many of length 1. Look at the shape of the half about padding.",
        hints=["The scores have the shape (batch, n_heads, n_query, n_key). How many axes are that?"],
    ),
    padding_mistakes.unsqueeze_of_two_axes(STEPS, "keys"),
    Mistake(
        "axis_for_the_heads_in_front",
        STEPS.but(keys=lambda real: real[None, :, None, :]),
        does="the axis for the heads stands in front of the batch",
        says="{does}, so the sentences would meet the *heads* of the scores. Right for one sentence, wrong for more.",
        hints=["Which shape is asked for? Which comes out for 2 sentences?"],
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
        hints=["What shape does the half about padding have? Which did `padding_mask` ask for?"],
    ),
    Mistake(
        "triangle_of_numbers",
        STEPS.but(both=lambda keys, not_later: keys & not_later.float()),
        does="`&` is given a triangle of numbers",
        says="`&` joins booleans, and one side holds numbers. Look at the dtype of the triangle.",
        hints=["Print `.dtype` of both halves."],
    ),
    Mistake(
        "numbers_turned_round",
        STEPS.but(both=lambda keys, n: keys & ~torch.ones(n, n).triu(1)),
        does="`~` is given a triangle of numbers",
        says="`~` turns booleans round, and here it is given numbers: it crashes. Look at the dtype of the triangle.",
        hints=["Print `.dtype` of what stands behind `~`."],
    ),
    Mistake(
        "joined_by_the_word",
        STEPS.but(sign=lambda: lambda keys, not_later: keys and not_later),
        does="a whole tensor is asked whether it is true, as by the word `and`",
        says=(
            "Python's words `and`, `or` and `not` ask whether a whole tensor is true, which has no answer. Entry by "
            "entry, it takes a sign."
        ),
        hints=["What does `bool(torch.tensor([True, False]))` say?"],
    ),
    Mistake(
        "as_long_as_the_batch",
        STEPS.but(n=lambda tokens: tokens.shape[0]),
        does="the triangle is as long as there are sentences",
    ),
    *padding_mistakes.which_tokens(STEPS),
    mask_mistakes.of_numbers(STEPS),
    mask_mistakes.to_be_added(STEPS),
    mask_mistakes.a_list(STEPS),
]
