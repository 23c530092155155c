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
    padding_mistakes.unsqueeze_of_two_axes(STEPS, "keys"),
    Mistake(
        "axis_for_the_heads_in_front",
        STEPS.but(keys=lambda real: real[None, :, None, :]),
        does="the axis for the heads stands in front of the batch",
        says="{does}, so the sentences would meet the *heads* of the scores. Right for one sentence, wrong for more.",
        hints=["Which shape is asked for? Which comes out for 2 sentences?"],
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
    *padding_mistakes.which_tokens(STEPS),
    mask_mistakes.of_numbers(STEPS),
    mask_mistakes.to_be_added(STEPS),
    mask_mistakes.a_list(STEPS),
]
