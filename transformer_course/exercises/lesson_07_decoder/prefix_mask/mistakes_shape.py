"""What goes wrong with the form of a prefix mask: one table for all, numbers, and lengths in the wrong place."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.prefix_mask.answer import STEPS


def _one_length(choose):
    """Give all rows one length, with the axes that they should have."""
    return lambda prefix_lengths: choose(prefix_lengths).expand(len(prefix_lengths))[:, None, None, None]


def _in_the_first_row(in_the_prefix):
    first = torch.zeros_like(in_the_prefix)
    first[0] = in_the_prefix[0]
    return first


def _one_slice(not_later, prefix_lengths):
    mask = not_later.clone()
    mask[:, :prefix_lengths] = True
    return mask


def _one_slice_for_the_batch(not_later, prefix_lengths, length):
    mask = not_later.expand(len(prefix_lengths), 1, length, length).clone()
    mask[:, :, :, :prefix_lengths] = True
    return mask


MISTAKES = [
    Mistake(
        "numbers",
        STEPS.but(mask=lambda mask: mask.float()),
        STEPS.but(mask=lambda mask: mask.long()),
        STEPS.but(mask=lambda in_the_prefix, not_later: in_the_prefix.long() + not_later.long()),
        STEPS.but(mask=lambda in_the_prefix, not_later: in_the_prefix + not_later.float()),
        does="the entries are numbers and not True and False",
        says="The entries are numbers, and a mask holds True and False.",
        hints=["What does `.dtype` say?"],
    ),
    Mistake(
        "a_causal_half_of_numbers",
        STEPS.but(not_later=lambda not_later: not_later.float()),
        does="the causal half is made of floats",
    ),
    Mistake(
        "to_be_added_to_the_scores",
        STEPS.but(mask=lambda mask: torch.zeros(mask.shape).masked_fill(~mask, float("-inf"))),
        STEPS.but(mask=lambda mask: torch.zeros(mask.shape).masked_fill(~mask, -1e9)),
        does="the mask is one to be added to the scores: 0, and −∞ or a very negative number",
        says=(
            "This is a mask to be added to the scores: 0 where looking is allowed. In this course a mask holds True "
            "and False, and True means: may attend."
        ),
        hints=["What does `.dtype` say?"],
    ),
    Mistake(
        "no_axis_for_the_heads",
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths[:, None, None]),
        does="the axis for the heads is missing",
        says="{does}: (batch, length, length) would be stretched along the wrong axes.",
        hints=["Which shape have the scores of all heads of a batch?"],
    ),
    Mistake(
        "batch_in_another_place",
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths[None, :, None, None]),
        STEPS.but(mask=lambda mask: mask.transpose(1, 2)),
        STEPS.but(mask=lambda mask: mask[None]),
        does="an axis of length 1 stands in another place than between batch and queries",
        says="The axis for the heads, of length 1, stands in another place than between batch and queries.",
        hints=["Which shape have the scores of all heads of a batch?"],
    ),
    Mistake(
        "the_same_prefix_for_all",
        STEPS.but(lengths=_one_length(lambda lengths: lengths[0])),
        STEPS.but(lengths=_one_length(lambda lengths: lengths[-1])),
        STEPS.but(lengths=_one_length(lambda lengths: lengths.max())),
        STEPS.but(lengths=_one_length(lambda lengths: lengths.min())),
        does="all rows of the batch get the same prefix",
        says="{does}. Each has a length of its own.",
        hints=["With prefixes of 3 and 1, what are the two tables?"],
    ),
    Mistake(
        "only_the_first_row",
        STEPS.but(in_the_prefix=_in_the_first_row),
        does="only the first row of the batch gets its prefix",
        hints=["With prefixes of 3 and 1, what are the two tables?"],
    ),
    Mistake(
        "one_table_for_all_rows",
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths[0]),
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths.max()),
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths.min()),
        STEPS.but(prefix_lengths=lambda prefix_lengths: prefix_lengths[:1]),
        does="there is one table for the whole batch",
        says=(
            "{does}. Each row of it has a prefix of its own, and so needs a table of its own, with an axis for the "
            "heads."
        ),
        hints=["With prefixes of 3 and 1, what are the two tables?"],
    ),
    Mistake(
        "lengths_meet_positions",
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths),
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths[:, None]),
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths, mask=lambda mask: mask[:, None]),
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths[:, None], mask=lambda mask: mask[:, None]),
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths, mask=lambda mask: mask[None, None]),
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths[:, None], mask=lambda mask: mask[None, None]),
        does="the lengths are matched with positions and not with the rows of the batch",
        says=(
            "The lengths are matched with positions or queries instead of rows of the batch, which works only if "
            "there is one of them, or as many. Look at the axes."
        ),
        hints=["What shape have the lengths, and along which axis of the result should they lie?"],
    ),
    Mistake(
        "all_lengths_in_one_slice",
        STEPS.but(mask=_one_slice),
        STEPS.but(mask=_one_slice_for_the_batch),
        does="a slice is asked to end at all lengths at once",
        says=(
            "A slice ends at one number, and the batch has as many lengths as rows: with more than one row, torch "
            "refuses the whole tensor of them."
        ),
        hints=["With prefixes of 3 and 1, where should `:prefix_lengths` end?"],
    ),
]
