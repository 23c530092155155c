"""What goes wrong with the axes of a prefix mask, and with its causal half."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_07_decoder.prefix_mask.answer import STEPS

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
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths[:, None]),
        STEPS.but(lengths=lambda prefix_lengths: prefix_lengths, mask=lambda mask: mask[None, None]),
        does="the lengths are matched with positions and not with the rows of the batch",
        says="{does}, which works only if there is one of them, or as many. Look at the axes.",
        hints=["What shape have the lengths, and along which axis of the result should they lie?"],
    ),
    Mistake(
        "upper_triangle",
        STEPS.but(not_later=lambda keys, queries: keys >= queries),
        STEPS.but(not_later=lambda keys, queries: keys > queries),
        does="the causal half opens the future and hides the past",
        says="Behind the prefix, it is the future that is open, and the past that is hidden.",
        hints=["What does the last row say, and what should it?"],
    ),
]
