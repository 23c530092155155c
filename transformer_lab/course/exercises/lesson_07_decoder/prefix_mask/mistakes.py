"""What goes wrong when a prefix is opened to everybody."""

import torch

from transformer_lab.course.exercise import Mistake


def opened(prefix_lengths, length):
    return torch.arange(length) < prefix_lengths[:, None, None, None]


def lower(length, diagonal=0):
    return torch.ones(length, length, dtype=torch.bool).tril(diagonal)


def only_within_the_prefix(prefix_lengths, length):
    prefix = opened(prefix_lengths, length)
    return (prefix & prefix.mT) | lower(length).logical_and(~prefix.mT & ~prefix)


def prefix_and_not_later(prefix_lengths, length):
    return opened(prefix_lengths, length) & lower(length)


def just_causal(prefix_lengths, length):
    return lower(length).expand(len(prefix_lengths), 1, -1, -1)


def just_causal_for_all_at_once(prefix_lengths, length):
    return lower(length)


def just_the_prefix(prefix_lengths, length):
    return opened(prefix_lengths, length).expand(-1, -1, length, -1)


def just_the_prefix_for_all_queries_at_once(prefix_lengths, length):
    return opened(prefix_lengths, length)


def everything(prefix_lengths, length):
    return torch.ones(len(prefix_lengths), 1, length, length, dtype=torch.bool)


def one_too_many(prefix_lengths, length):
    return (torch.arange(length) <= prefix_lengths[:, None, None, None]) | lower(length)


def one_too_few(prefix_lengths, length):
    return (torch.arange(length) < prefix_lengths[:, None, None, None] - 1) | lower(length)


def the_prefix_sees_everything(prefix_lengths, length):
    return opened(prefix_lengths, length).mT | lower(length)


def upper_triangle(prefix_lengths, length):
    return opened(prefix_lengths, length) | lower(length).mT


def what_comes_later(prefix_lengths, length):
    return opened(prefix_lengths, length) | ~lower(length)


def without_itself(prefix_lengths, length):
    return opened(prefix_lengths, length) | lower(length, -1)


def one_ahead(prefix_lengths, length):
    return opened(prefix_lengths, length) | lower(length, 1)


def turned_round(prefix_lengths, length):
    return ~(opened(prefix_lengths, length) | lower(length))


def numbers(prefix_lengths, length):
    return (opened(prefix_lengths, length) | lower(length)).float()


def whole_numbers(prefix_lengths, length):
    return (opened(prefix_lengths, length) | lower(length)).long()


def no_axis_for_the_heads(prefix_lengths, length):
    return (torch.arange(length) < prefix_lengths[:, None, None]) | lower(length)


def the_same_prefix_for_all(prefix_lengths, length):
    return (torch.arange(length) < prefix_lengths[0]) | lower(length).expand(len(prefix_lengths), 1, -1, -1)


def the_longest_prefix_for_all(prefix_lengths, length):
    return (torch.arange(length) < prefix_lengths.max()) | lower(length).expand(len(prefix_lengths), 1, -1, -1)


def lengths_meet_positions(prefix_lengths, length):
    return (torch.arange(length) < prefix_lengths) | lower(length)


def lengths_in_a_column(prefix_lengths, length):
    return (torch.arange(length) < prefix_lengths[:, None]) | lower(length)


def joined_by_the_word(prefix_lengths, length):
    return opened(prefix_lengths, length) or lower(length)


MISTAKES = [
    Mistake(
        "just_causal",
        [just_causal, just_causal_for_all_at_once],
        says=(
            "This is a causal mask: the prefix is missing. Nobody should have to wait for what has been there from the "
            "beginning."
        ),
        hints=[
            "Where does `prefix_lengths` occur in the code?",
            "Which places should the very first position see?",
            "Open all keys of the prefix to all queries, with `|`.",
        ],
    ),
    Mistake(
        "just_the_prefix",
        [just_the_prefix, just_the_prefix_for_all_queries_at_once],
        says=(
            "Everybody sees the prefix, and nobody anything else: what is written does not know what came before. The "
            "causal half is missing."
        ),
        hints=[
            "What should the last position see?",
            "Behind the prefix, each position sees itself and what came before, too.",
            "Join it with a causal mask by `|`.",
        ],
    ),
    Mistake(
        "prefix_and_not_later",
        [prefix_and_not_later],
        says=(
            "A key has to be in the prefix *and* not later: what was written cannot be seen at all. Either should be "
            "enough. Look at how the two are joined."
        ),
        hints=[
            "What should the last position see, and what does its row say?",
            "`&` means and, `|` means or.",
            "`|`.",
        ],
    ),
    Mistake(
        "only_within_the_prefix",
        [only_within_the_prefix],
        says=(
            "The prefix sees itself, and what is written sees itself, but not the prefix: there is nothing to translate "
            "from."
        ),
        hints=[
            "What should the last position see, and what does its row say?",
            "Whether a *key* is in the prefix counts. Who asks does not matter.",
            "All queries may look at all keys of the prefix.",
        ],
    ),
    Mistake(
        "the_prefix_sees_everything",
        [the_prefix_sees_everything],
        says=(
            "The *queries* of the prefix see everything, what is still to be written included. It is the *keys* of the "
            "prefix that should be open to everybody. Look at rows and columns."
        ),
        hints=[
            "What does the first row say, and what should it?",
            "Columns are keys. Which columns should be all True?",
            "The comparison with the lengths has the shape (batch, 1, 1, length): the last axis are the keys.",
        ],
    ),
    Mistake(
        "everything",
        [everything],
        says="Everything is open: what is written sees what comes after it.",
        hints=[
            "What does the row of the first position behind the prefix say?",
            "Behind the prefix, nobody looks ahead.",
            "A key is open if it is in the prefix or not later than the query.",
        ],
    ),
    Mistake(
        "one_too_many",
        [one_too_many],
        says="The prefix is one place too long: it gives the first written token away. Look at the comparison.",
        hints=[
            "With a prefix of 2, which positions belong to it? They are counted from 0.",
            "Is position 2 the third, or the second?",
            "`<`, not `<=`.",
        ],
    ),
    Mistake(
        "one_too_few",
        [one_too_few],
        says="The prefix is one place too short: its last token is hidden from those before it. Look at the comparison.",
        hints=[
            "With a prefix of 2, which positions belong to it? They are counted from 0.",
            "The last position of the prefix is its length minus 1.",
            "Position < length, without further arithmetic.",
        ],
    ),
    Mistake(
        "upper_triangle",
        [upper_triangle, what_comes_later],
        says=(
            "Behind the prefix, it is the future that is open, and the past that is hidden. Look at which triangle is "
            "left."
        ),
        hints=[
            "What does the last row say, and what should it?",
            "Rows are queries, columns are keys, and a key may be looked at if its position is not larger.",
            "The lower triangle: `.tril()`.",
        ],
    ),
    Mistake(
        "without_itself",
        [without_itself],
        says="Behind the prefix, no position sees itself. Look at the diagonal.",
        hints=[
            "What does the last entry of the last row say?",
            "Not later: that includes itself.",
            "`<=` between positions, or `.tril()` without a number.",
        ],
    ),
    Mistake(
        "one_ahead",
        [one_ahead],
        says=(
            "Behind the prefix, each position sees one that comes after it: the very token that it should say. Look at "
            "the diagonal."
        ),
        hints=[
            "What does the row of the first position behind the prefix say?",
            "Not later than itself.",
            "`.tril()` without a number.",
        ],
    ),
    Mistake(
        "turned_round",
        [turned_round],
        says="Every entry is turned round: True stands where looking is forbidden. In this course True means: may look.",
        hints=[
            "What does the first row say?",
            "This is the meaning that `nn.MultiheadAttention` gives to a mask.",
            "Leave the `~` out.",
        ],
    ),
    Mistake(
        "numbers",
        [numbers, whole_numbers],
        says="The entries are numbers, and a mask holds True and False.",
        hints=[
            "What does `.dtype` say?",
            "Comparisons give booleans, and `|` keeps them.",
            "`torch.ones(length, length, dtype=torch.bool)` is a table of True.",
        ],
    ),
    Mistake(
        "no_axis_for_the_heads",
        [no_axis_for_the_heads],
        says="The axis for the heads is missing: (batch, length, length) would be stretched along the wrong axes.",
        hints=[
            "Which shape have the scores of all heads of a batch?",
            "Axes are matched from the end. What stands in front of the queries?",
            "The lengths need the shape (batch, 1, 1, 1).",
        ],
    ),
    Mistake(
        "the_same_prefix_for_all",
        [the_same_prefix_for_all, the_longest_prefix_for_all],
        says="All rows of the batch get the same prefix. Each has a length of its own.",
        hints=[
            "With prefixes of 3 and 1, what are the two tables?",
            "Comparing with a whole tensor of lengths makes a table for each, if the axes are in the right places.",
            "Give the lengths the shape (batch, 1, 1, 1), and compare once.",
        ],
    ),
    Mistake(
        "lengths_meet_positions",
        [lengths_meet_positions, lengths_in_a_column],
        says=(
            "The lengths are matched with positions or queries instead of rows of the batch, which works only if there is "
            "one of them, or as many. Look at the axes."
        ),
        hints=[
            "What shape have the lengths, and along which axis of the result should they lie?",
            "Axes are matched from the end; `[:, None]` adds one of length 1.",
            "`prefix_lengths[:, None, None, None]`.",
        ],
    ),
    Mistake(
        "joined_by_the_word",
        [joined_by_the_word],
        says=(
            "The word `or` asks whether a whole tensor is True, which torch refuses to answer. What is meant is an or for "
            "each entry."
        ),
        hints=[
            "What does the error message say?",
            "Tensors of booleans are joined entry by entry by an operator, not by a word.",
            "`|`.",
        ],
    ),
]
