"""What goes wrong with the form of a prefix mask: one table for all, numbers, and lengths in the wrong place."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_07_decoder.prefix_mask.mistakes import lower, opened


def one_table_for_all_rows(prefix_lengths, length):
    return lower(length) | (torch.arange(length) < prefix_lengths[0])


def one_table_of_the_longest(prefix_lengths, length):
    return lower(length) | (torch.arange(length) < prefix_lengths.max())


def all_lengths_in_one_slice(prefix_lengths, length):
    mask = lower(length)
    mask[:, :prefix_lengths] = True
    return mask


def a_slice_of_all_rows(prefix_lengths, length):
    mask = torch.ones(len(prefix_lengths), 1, length, length).tril().bool()
    mask[:, :, :, :prefix_lengths] = True
    return mask


def as_many_ahead(prefix_lengths, length):
    return torch.stack([lower(length, int(p))[None] for p in prefix_lengths])


def nearly_as_many_ahead(prefix_lengths, length):
    return torch.stack([lower(length, int(p) - 1)[None] for p in prefix_lengths])


def a_causal_half_of_numbers(prefix_lengths, length):
    return opened(prefix_lengths, length) | torch.ones(length, length).tril()


def a_causal_half_of_numbers_added(prefix_lengths, length):
    return opened(prefix_lengths, length) + torch.ones(length, length).tril()


def to_be_added_to_the_scores(prefix_lengths, length):
    mask = opened(prefix_lengths, length) | lower(length)
    return torch.zeros(mask.shape).masked_fill(~mask, float("-inf"))


MISTAKES = [
    Mistake(
        "one_table_for_all_rows",
        [one_table_for_all_rows, one_table_of_the_longest],
        says=(
            "There is one table for the whole batch. Each row of it has a prefix of its own, and so needs a table of its "
            "own, with an axis for the heads."
        ),
        hints=[
            "With prefixes of 3 and 1, what are the two tables?",
            "Comparing with a whole tensor of lengths makes a table for each, if the axes are in the right places.",
            "Give the lengths the shape (batch, 1, 1, 1), and compare once.",
        ],
    ),
    Mistake(
        "all_lengths_in_one_slice",
        [all_lengths_in_one_slice, a_slice_of_all_rows],
        says=(
            "A slice ends at one number, and the batch has as many lengths as rows: with more than one row, torch refuses "
            "the whole tensor of them."
        ),
        hints=[
            "With prefixes of 3 and 1, where should `:prefix_lengths` end?",
            "A comparison can be made with a whole tensor of lengths, a slice cannot.",
            "Compare `torch.arange(length)` with `prefix_lengths[:, None, None, None]`.",
        ],
    ),
    Mistake(
        "as_many_ahead",
        [as_many_ahead, nearly_as_many_ahead],
        says=(
            "The length of the prefix moves the diagonal: *every* position looks so many places ahead, and behind the "
            "prefix, too. Look at what the number in `tril` does."
        ),
        hints=[
            "What does the row of the first position behind the prefix say?",
            "The prefix ends at the same column for all queries, so its border is upright, not slanting.",
            "Join `.tril()` without a number and a comparison of the columns with the lengths.",
        ],
    ),
    Mistake(
        "a_causal_half_of_numbers",
        [a_causal_half_of_numbers, a_causal_half_of_numbers_added],
        says=(
            "The causal half is made of numbers, and the prefix of True and False: an or for each entry needs booleans on "
            "both sides."
        ),
        hints=[
            "What does `.dtype` say of either half?",
            "`torch.ones(length, length)` is a table of floats unless it is told otherwise.",
            "`torch.ones(length, length, dtype=torch.bool).tril()`, and `|`.",
        ],
    ),
    Mistake(
        "to_be_added_to_the_scores",
        [to_be_added_to_the_scores],
        says=(
            "This is a mask to be added to the scores: 0 and -∞. In this course a mask holds True and False, and True "
            "means: may look."
        ),
        hints=[
            "What does `.dtype` say?",
            "The attention that is handed the mask fills in -∞ by itself.",
            "Return the booleans.",
        ],
    ),
]
