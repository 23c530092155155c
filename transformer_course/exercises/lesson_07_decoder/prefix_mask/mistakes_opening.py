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
        says=(
            "This is a causal mask: the prefix is missing. No position should have to wait for what has been there "
            "from the beginning."
        ),
        hints=[
            "Where does `prefix_lengths` occur in the code?",
            "Which positions should the very first one see?",
            "Open all keys of the prefix to all queries, with `|`.",
        ],
    ),
    Mistake(
        "just_the_prefix",
        STEPS.but(not_later=lambda not_later: torch.zeros_like(not_later)),
        STEPS.but(mask=lambda in_the_prefix: in_the_prefix),
        does="the causal half is missing",
        says=(
            "Every position sees the prefix, and nothing else: what is generated does not know what came before it. "
            "The causal half is missing."
        ),
        hints=[
            "What should the last position see?",
            "Behind the prefix, each position sees itself and what came before, too.",
            "Join it with a causal mask by `|`.",
        ],
    ),
    Mistake(
        "prefix_and_not_later",
        STEPS.but(mask=lambda in_the_prefix, not_later: in_the_prefix & not_later),
        does="a key has to be in the prefix *and* not later",
        says=(
            "{does}: what was generated cannot be seen at all. Either should be enough. Look at how the two are joined."
        ),
        hints=[
            "What should the last position see, and what does its row say?",
            "`&` means and, `|` means or.",
            "`|`.",
        ],
    ),
    Mistake(
        "either_or",
        STEPS.but(mask=lambda in_the_prefix, not_later: in_the_prefix ^ not_later),
        does="a key that is in the prefix and not later as well is hidden",
        says=(
            "A key that is in the prefix *and* not later is hidden: only one of the two may hold. Look at how the "
            "two are joined."
        ),
        hints=[
            "What does the last row say of the first key?",
            "`^` and `!=` mean either … or, but not both.",
            "`|` is True where at least one is.",
        ],
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
        hints=[
            "What should the last position see, and what does its row say?",
            "Whether a *key* is in the prefix counts. Who asks does not matter.",
            "All queries may attend to all keys of the prefix.",
        ],
    ),
    Mistake(
        "the_prefix_sees_everything",
        STEPS.but(in_the_prefix=lambda queries, lengths: queries < lengths),
        does="the *queries* of the prefix are asked for, and not its keys",
        says=(
            "The *queries* of the prefix see everything, what is still to be generated included. It is the *keys* of "
            "the prefix that should be open to all. Look at rows and columns."
        ),
        hints=[
            "What does the first row say, and what should it?",
            "Columns are keys. Which columns should be all True?",
            "The comparison with the lengths has the shape (batch, 1, 1, length): the last axis are the keys.",
        ],
    ),
    Mistake(
        "everything",
        STEPS.but(mask=lambda mask: torch.ones_like(mask)),
        STEPS.but(not_later=lambda not_later: torch.ones_like(not_later)),
        does="every key is open",
        says="Everything is open: what is generated sees what comes after it.",
        hints=[
            "What does the row of the first position behind the prefix say?",
            "After the prefix, no position attends ahead.",
            "A key is open if it is in the prefix or not later than the query.",
        ],
    ),
    Mistake(
        "one_too_many",
        STEPS.but(in_the_prefix=lambda keys, lengths: keys <= lengths),
        does="the prefix is one position too long",
        says="{does}: it gives the first generated token away. Look at where it ends.",
        hints=[
            "With a prefix of 2, which positions belong to it? They are counted from 0.",
            "Is position 2 the third, or the second?",
            "A position smaller than the length, not equal to it: `<`.",
        ],
    ),
    Mistake(
        "one_too_few",
        STEPS.but(in_the_prefix=lambda keys, lengths: keys < lengths - 1),
        does="the prefix is one position too short",
        says="{does}: its last token is hidden from those before it. Look at where it ends.",
        hints=[
            "With a prefix of 2, which positions belong to it? They are counted from 0.",
            "The last position of the prefix is its length minus 1.",
            "Position < length, without further arithmetic.",
        ],
    ),
    Mistake(
        "behind_the_prefix",
        STEPS.but(in_the_prefix=lambda keys, lengths: keys >= lengths),
        STEPS.but(in_the_prefix=lambda keys, lengths: keys > lengths),
        does="what is opened lies behind the prefix",
        says=(
            "What is opened to all are the keys *behind* the prefix: the very tokens that are still to be generated. "
            "Look at the comparison."
        ),
        hints=[
            "What does the first row say, and what should it?",
            "A key is in the prefix if its position is smaller than the length.",
            "`<`.",
        ],
    ),
    Mistake(
        "prefix_at_the_end",
        STEPS.but(in_the_prefix=lambda keys, lengths, length: keys >= length - lengths),
        does="the last keys of each row are opened and not the first",
        says="The *last* keys of each row are opened, as many as the prefix is long. A prefix is what comes first.",
        hints=[
            "With a prefix of 2, which positions belong to it?",
            "Positions are counted from 0, from the left.",
            "A key is in the prefix if its position is smaller than the length: `<`.",
        ],
    ),
    Mistake(
        "full_prefix_opens_nothing",
        STEPS.but(in_the_prefix=lambda in_the_prefix, lengths, length: in_the_prefix & (lengths < length)),
        does="a prefix as long as the whole text opens nothing",
        says="{does}, where it should open everything. Look for a slice that ends at −0.",
        hints=[
            "With a prefix of 4 and 4 positions, what should the table be?",
            "`table[:, :-n]` is all but the last n columns. What is it if n is 0?",
            "Count from the front: the keys whose position is smaller than the length.",
        ],
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
        hints=[
            "What does the last row say, and what should it?",
            "Rows are queries, columns are keys, and a key may be attended to if its position is not larger.",
            "The lower triangle: `.tril()`.",
        ],
    ),
    Mistake(
        "without_itself",
        STEPS.but(not_later=lambda keys, queries: keys < queries),
        does="the causal half leaves out the position itself",
        says="Behind the prefix, no position sees itself. Look at the diagonal.",
        hints=[
            "What does the last entry of the last row say?",
            "Not later: that includes itself.",
            "`<=` between positions, or `.tril()` without a number.",
        ],
    ),
    Mistake(
        "one_ahead",
        STEPS.but(not_later=lambda keys, queries: keys <= queries + 1),
        does="the causal half opens the next position as well",
        says=(
            "Behind the prefix, each position sees one that comes after it: the very token that it should predict. "
            "Look at the diagonal."
        ),
        hints=[
            "What does the row of the first position behind the prefix say?",
            "Not later than itself.",
            "`.tril()` without a number.",
        ],
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
        hints=[
            "What does the row of the first position behind the prefix say?",
            "The prefix ends at the same column for all queries, so its border is upright, not slanting.",
            "Join `.tril()` without a number and a comparison of the columns with the lengths.",
        ],
    ),
    Mistake(
        "rows_and_columns_exchanged",
        STEPS.but(in_the_prefix=lambda in_the_prefix: in_the_prefix.mT, not_later=lambda not_later: not_later.mT),
        does="rows and columns of the mask are exchanged",
        says=(
            "Rows and columns are exchanged: the queries of the prefix see all keys, where its keys should be seen by "
            "all queries, and the triangle is the upper one."
        ),
        hints=[
            "What does the first row say, and what should it?",
            "Rows are queries, columns are keys.",
            "Give the *queries'* positions the axis on the right, `[:, None]`.",
        ],
    ),
    Mistake(
        "turned_round",
        STEPS.but(mask=lambda mask: ~mask),
        does="what may be attended to is False, and what may not is True",
        says=(
            "Every entry is turned round: True stands where attending is forbidden. In this course True means: may "
            "attend."
        ),
        hints=[
            "What does the first row say?",
            "This is the meaning that `nn.MultiheadAttention` gives to a mask.",
            "Return the opposite: what may be attended to is True.",
        ],
    ),
    Mistake(
        "joined_by_the_word",
        STEPS.but(mask=lambda in_the_prefix, not_later: in_the_prefix or not_later),
        does="a whole tensor is asked whether it is true, as by the words `or`, `and` and `not`",
        says=(
            "The words `or`, `and` and `not` ask whether a whole tensor is True, which torch refuses to answer. What "
            "is meant is an or for each entry."
        ),
        hints=[
            "What does the error message say?",
            "Tensors of booleans are joined entry by entry by an operator, not by a word.",
            "`|`.",
        ],
    ),
]
