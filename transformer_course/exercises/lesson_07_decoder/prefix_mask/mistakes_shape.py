"""What goes wrong with the form of a prefix mask: one table for all, numbers, and lengths in the wrong place."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.prefix_mask.answer import STEPS


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
        "no_axis_for_the_heads",
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths[:, None, None]),
        does="the axis for the heads is missing",
        says="{does}: (batch, length, length) would be stretched along the wrong axes.",
        hints=["Which shape have the scores of all heads of a batch?"],
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
