"""What goes wrong with what a prefix mask opens: the prefix, the causal half, and how the two are joined."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.prefix_mask.answer import STEPS

MISTAKES = [
    Mistake(
        "just_causal",
        STEPS.but(in_the_prefix=lambda in_the_prefix: torch.zeros_like(in_the_prefix)),
        STEPS.but(mask=lambda not_later: not_later),
        does="the prefix is not opened",
    ),
    Mistake(
        "just_the_prefix",
        STEPS.but(not_later=lambda not_later: torch.zeros_like(not_later)),
        STEPS.but(mask=lambda in_the_prefix: in_the_prefix),
        does="the causal half is missing",
    ),
    Mistake(
        "prefix_and_not_later",
        STEPS.but(mask=lambda in_the_prefix, not_later: in_the_prefix & not_later),
        does="a key has to be in the prefix *and* not later",
    ),
    Mistake(
        "either_or",
        STEPS.but(mask=lambda in_the_prefix, not_later: in_the_prefix ^ not_later),
        does="a key that is in the prefix and not later as well is hidden",
        says=(
            "A key that is in the prefix *and* not later is hidden: only one of the two may hold. Look at how the "
            "two are joined."
        ),
        hints=["What does the last row say of the first key?"],
    ),
    Mistake(
        "only_within_the_prefix",
        STEPS.but(
            in_the_prefix=lambda in_the_prefix, queries, lengths: in_the_prefix & (queries < lengths),
            not_later=lambda not_later, keys, lengths: not_later & (keys >= lengths),
        ),
        does="the prefix is open to its own queries alone",
        says=(
            "The prefix sees itself, and what is generated sees itself, but not the prefix: there is nothing to "
            "translate from."
        ),
        hints=["What should the last position see, and what does its row say?"],
    ),
    Mistake(
        "the_prefix_sees_everything",
        STEPS.but(in_the_prefix=lambda queries, lengths: queries < lengths),
        does="the *queries* of the prefix are asked for, and not its keys",
    ),
    Mistake(
        "everything",
        STEPS.but(mask=lambda mask: torch.ones_like(mask)),
        STEPS.but(not_later=lambda not_later: torch.ones_like(not_later)),
        does="every key is open",
        says="Everything is open: what is generated sees what comes after it.",
        hints=["What does the row of the first position behind the prefix say?"],
    ),
    Mistake(
        "one_too_many",
        STEPS.but(in_the_prefix=lambda keys, lengths: keys <= lengths),
        does="the prefix is one position too long",
    ),
    Mistake(
        "one_too_few",
        STEPS.but(in_the_prefix=lambda keys, lengths: keys < lengths - 1),
        does="the prefix is one position too short",
    ),
    Mistake(
        "behind_the_prefix",
        STEPS.but(in_the_prefix=lambda keys, lengths: keys >= lengths),
        STEPS.but(in_the_prefix=lambda keys, lengths: keys > lengths),
        does="what is opened lies behind the prefix",
    ),
    Mistake(
        "full_prefix_opens_nothing",
        STEPS.but(in_the_prefix=lambda in_the_prefix, lengths, length: in_the_prefix & (lengths < length)),
        does="a prefix as long as the whole text opens nothing",
        says="{does}, where it should open everything. Look for a slice that ends at −0.",
        hints=["With a prefix of 4 and 4 positions, what should the table be?"],
    ),
    Mistake(
        "upper_triangle",
        STEPS.but(not_later=lambda keys, queries: keys >= queries),
        STEPS.but(not_later=lambda keys, queries: keys > queries),
        does="the causal half opens the future and hides the past",
        says=(
            "Behind the prefix, it is the future that is open, and the past that is hidden. Look at which triangle is "
            "left."
        ),
        hints=["What does the last row say, and what should it?"],
    ),
    Mistake(
        "without_itself",
        STEPS.but(not_later=lambda keys, queries: keys < queries),
        does="the causal half leaves out the position itself",
    ),
    Mistake(
        "one_ahead",
        STEPS.but(not_later=lambda keys, queries: keys <= queries + 1),
        does="the causal half opens the next position as well",
    ),
    Mistake(
        "as_many_ahead",
        STEPS.but(mask=lambda keys, queries, lengths: keys <= queries + lengths),
        STEPS.but(mask=lambda keys, queries, lengths: keys < queries + lengths),
        does="every position looks as many positions ahead as the prefix is long",
        says=(
            "The length of the prefix moves the diagonal: *every* position looks so many positions ahead, and behind "
            "the prefix, too. Look at what the number in `tril` does."
        ),
        hints=["What does the row of the first position behind the prefix say?"],
    ),
    Mistake(
        "rows_and_columns_exchanged",
        STEPS.but(in_the_prefix=lambda in_the_prefix: in_the_prefix.mT, not_later=lambda not_later: not_later.mT),
        does="rows and columns of the mask are exchanged",
    ),
    Mistake(
        "turned_round",
        STEPS.but(mask=lambda mask: ~mask),
        does="what may be attended to is False, and what may not is True",
    ),
    Mistake(
        "joined_by_the_word",
        STEPS.but(mask=lambda in_the_prefix, not_later: in_the_prefix or not_later),
        does="a whole tensor is asked whether it is true, as by the words `or`, `and` and `not`",
        says=(
            "The words `or`, `and` and `not` ask whether a whole tensor is True, which torch refuses to answer. What "
            "is meant is an or for each entry."
        ),
        hints=["What does the error message say?"],
    ),
]
