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
        just_causal,
        "This is a causal mask: the prefix is missing. Nobody should have to wait for what has been there from the "
        "beginning.",
        [
            "Where does `prefix_lengths` occur in the code?",
            "Which places should the very first position see?",
            "Open all keys of the prefix to all queries, with `|`.",
        ],
        also=[just_causal_for_all_at_once],
    ),
    Mistake(
        just_the_prefix,
        "Everybody sees the prefix, and nobody anything else: what is written does not know what came before. The "
        "causal half is missing.",
        [
            "What should the last position see?",
            "Behind the prefix, each position sees itself and what came before, too.",
            "Join it with a causal mask by `|`.",
        ],
        also=[just_the_prefix_for_all_queries_at_once],
    ),
    Mistake(
        prefix_and_not_later,
        "A key has to be in the prefix *and* not later: what was written cannot be seen at all. Either should be "
        "enough. Look at how the two are joined.",
        [
            "What should the last position see, and what does its row say?",
            "`&` means and, `|` means or.",
            "`|`.",
        ],
    ),
    Mistake(
        only_within_the_prefix,
        "The prefix sees itself, and what is written sees itself, but not the prefix: there is nothing to translate "
        "from.",
        [
            "What should the last position see, and what does its row say?",
            "Whether a *key* is in the prefix counts. Who asks does not matter.",
            "All queries may look at all keys of the prefix.",
        ],
    ),
    Mistake(
        the_prefix_sees_everything,
        "The *queries* of the prefix see everything, what is still to be written included. It is the *keys* of the "
        "prefix that should be open to everybody. Look at rows and columns.",
        [
            "What does the first row say, and what should it?",
            "Columns are keys. Which columns should be all True?",
            "The comparison with the lengths has the shape (batch, 1, 1, length): the last axis are the keys.",
        ],
    ),
    Mistake(
        everything,
        "Everything is open: what is written sees what comes after it.",
        [
            "What does the row of the first position behind the prefix say?",
            "Behind the prefix, nobody looks ahead.",
            "A key is open if it is in the prefix or not later than the query.",
        ],
    ),
    Mistake(
        one_too_many,
        "The prefix is one place too long: it gives the first written token away. Look at the comparison.",
        [
            "With a prefix of 2, which positions belong to it? They are counted from 0.",
            "Is position 2 the third, or the second?",
            "`<`, not `<=`.",
        ],
    ),
    Mistake(
        one_too_few,
        "The prefix is one place too short: its last token is hidden from those before it. Look at the comparison.",
        [
            "With a prefix of 2, which positions belong to it? They are counted from 0.",
            "The last position of the prefix is its length minus 1.",
            "Position < length, without further arithmetic.",
        ],
    ),
    Mistake(
        upper_triangle,
        "Behind the prefix, it is the future that is open, and the past that is hidden. Look at which triangle is "
        "left.",
        [
            "What does the last row say, and what should it?",
            "Rows are queries, columns are keys, and a key may be looked at if its position is not larger.",
            "The lower triangle: `.tril()`.",
        ],
        also=[what_comes_later],
    ),
    Mistake(
        without_itself,
        "Behind the prefix, no position sees itself. Look at the diagonal.",
        [
            "What does the last entry of the last row say?",
            "Not later: that includes itself.",
            "`<=` between positions, or `.tril()` without a number.",
        ],
    ),
    Mistake(
        one_ahead,
        "Behind the prefix, each position sees one that comes after it: the very token that it should say. Look at "
        "the diagonal.",
        [
            "What does the row of the first position behind the prefix say?",
            "Not later than itself.",
            "`.tril()` without a number.",
        ],
    ),
    Mistake(
        turned_round,
        "Every entry is turned round: True stands where looking is forbidden. In this course True means: may look.",
        [
            "What does the first row say?",
            "This is the meaning that `nn.MultiheadAttention` gives to a mask.",
            "Leave the `~` out.",
        ],
    ),
    Mistake(
        numbers,
        "The entries are numbers, and a mask holds True and False.",
        [
            "What does `.dtype` say?",
            "Comparisons give booleans, and `|` keeps them.",
            "`torch.ones(length, length, dtype=torch.bool)` is a table of True.",
        ],
        also=[whole_numbers],
    ),
    Mistake(
        no_axis_for_the_heads,
        "The axis for the heads is missing: (batch, length, length) would be stretched along the wrong axes.",
        [
            "Which shape have the scores of all heads of a batch?",
            "Axes are matched from the end. What stands in front of the queries?",
            "The lengths need the shape (batch, 1, 1, 1).",
        ],
    ),
    Mistake(
        the_same_prefix_for_all,
        "All rows of the batch get the same prefix. Each has a length of its own.",
        [
            "With prefixes of 3 and 1, what are the two tables?",
            "Comparing with a whole tensor of lengths makes a table for each, if the axes are in the right places.",
            "Give the lengths the shape (batch, 1, 1, 1), and compare once.",
        ],
        also=[the_longest_prefix_for_all],
    ),
    Mistake(
        lengths_meet_positions,
        "The lengths are matched with positions or queries instead of rows of the batch, which works only if there is "
        "one of them, or as many. Look at the axes.",
        [
            "What shape have the lengths, and along which axis of the result should they lie?",
            "Axes are matched from the end; `[:, None]` adds one of length 1.",
            "`prefix_lengths[:, None, None, None]`.",
        ],
        also=[lengths_in_a_column],
    ),
    Mistake(
        joined_by_the_word,
        "The word `or` asks whether a whole tensor is True, which torch refuses to answer. What is meant is an or for "
        "each entry.",
        [
            "What does the error message say?",
            "Tensors of booleans are joined entry by entry by an operator, not by a word.",
            "`|`.",
        ],
    ),
]
