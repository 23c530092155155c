"""What goes wrong when heads are repeated."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_10_inference.repeat_kv.answer import STEPS

MISTAKES = [
    Mistake(
        "whole_row_repeated",
        STEPS.but(repeated=lambda x, copies, n_heads: copies.transpose(1, 2).reshape(len(x), n_heads, *x.shape[2:])),
        does="all the heads are repeated one after another (A B A B), not each next to itself",
        says="The heads come as A B A B. Each should be repeated next to itself, so that neighbours share a head.",
    ),
    Mistake(
        "along_another_axis",
        STEPS.but(repeated=lambda x, n_repeats: x.repeat_interleave(n_repeats, dim=2)),
        STEPS.but(repeated=lambda x, n_repeats: x.repeat_interleave(n_repeats, dim=3)),
        STEPS.but(repeated=lambda x, n_repeats: x.repeat_interleave(n_repeats, dim=0)),
        STEPS.but(repeated=lambda x, n_repeats: x.repeat(1, 1, n_repeats, 1)),
        does="something else is repeated than the heads: positions, features or the batch",
    ),
    Mistake(
        "n_repeats_as_the_number_of_heads",
        STEPS.but(n_repeats=lambda n_repeats, x: max(n_repeats // x.shape[1], 1)),
        STEPS.but(repeated=lambda repeated, n_repeats: repeated[:, :n_repeats]),
        does="`n_repeats` is taken for the number of query heads",
        says="{does}. It says how often *each* head is repeated.",
    ),
    Mistake(
        "positions_and_heads_mixed",
        STEPS.but(
            repeated=lambda x, n_heads, n_repeats: (
                x[:, :, :, None].expand(-1, -1, -1, n_repeats, -1).reshape(len(x), n_heads, *x.shape[2:])
            )
        ),
        does="the axis of the copies stands behind the positions or features when axes are merged",
        says=(
            "The shape is right, but heads are made of mixed positions: the axis of the copies stands in another place "
            "when it is merged with the heads."
        ),
        hints=["`reshape` reads the numbers in their order. Which axis has to stand right behind that of the heads?"],
    ),
    Mistake(
        "divided_among_the_copies",
        STEPS.but(repeated=lambda repeated, n_repeats: repeated / n_repeats),
        does="every copy is divided by n_repeats",
        says="Every copy is divided by `n_repeats`. Each query head should find the whole key or value.",
    ),
]
