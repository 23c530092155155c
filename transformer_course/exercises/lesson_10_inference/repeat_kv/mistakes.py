"""What goes wrong when heads are repeated."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_10_inference.repeat_kv.answer import STEPS

MISTAKES = [
    Mistake(
        "whole_row_repeated",
        STEPS.but(repeated=lambda x, copies, n_heads: copies.transpose(1, 2).reshape(len(x), n_heads, *x.shape[2:])),
        does="all the heads are repeated one after another (A B A B), not each next to itself",
        says="The heads come as A B A B. Each should be repeated next to itself, so that neighbours share a head.",
        hints=["Print `torch.arange(2).repeat(3)` and `torch.arange(2).repeat_interleave(3)`."],
    ),
    Mistake(
        "along_another_axis",
        STEPS.but(repeated=lambda x, n_repeats: x.repeat_interleave(n_repeats, dim=2)),
        STEPS.but(repeated=lambda x, n_repeats: x.repeat_interleave(n_repeats, dim=3)),
        STEPS.but(repeated=lambda x, n_repeats: x.repeat_interleave(n_repeats, dim=0)),
        STEPS.but(repeated=lambda x, n_repeats: x.repeat(1, 1, n_repeats, 1)),
        STEPS.but(repeated=lambda x, n_repeats: x.repeat(1, 1, 1, n_repeats)),
        STEPS.but(repeated=lambda x, n_repeats: x.repeat(n_repeats, 1, 1, 1)),
        STEPS.but(repeated=lambda copies: copies.transpose(1, 2).flatten(2, 3).transpose(1, 2)).attempt,
        does="something else is repeated than the heads: positions, features or the batch",
        hints=["What shape is asked for, and what shape comes out?"],
    ),
    Mistake(
        "no_axis",
        STEPS.but(repeated=lambda x, n_repeats: x.repeat_interleave(n_repeats)).attempt,
        says="One long row comes out: without an axis, `repeat_interleave` repeats every single number.",
        hints=[
            "What shape is asked for, and what shape comes out?",
            "Which axis is to be repeated? It has to be said.",
            "`dim=1`.",
        ],
    ),
    Mistake(
        "n_repeats_as_the_number_of_heads",
        STEPS.but(n_repeats=lambda n_repeats, x: max(n_repeats // x.shape[1], 1)),
        STEPS.but(n_repeats=lambda n_repeats, x: n_repeats // x.shape[1]).attempt,
        STEPS.but(repeated=lambda repeated, n_repeats: repeated[:, :n_repeats]),
        STEPS.but(repeated=lambda x, n_repeats: x.expand(-1, n_repeats, -1, -1)).attempt,
        does="`n_repeats` is taken for the number of query heads",
        says=(
            "`n_repeats` is taken for the number of heads that should come out. It says how often *each* head is "
            "repeated."
        ),
        hints=["How many heads come out for 2 heads and n_repeats = 3?"],
    ),
    Mistake(
        "expands_the_heads",
        STEPS.but(repeated=lambda x, n_heads: x.expand(-1, n_heads, -1, -1)).attempt,
        STEPS.but(repeated=lambda x, n_heads: x.expand(len(x), n_heads, *x.shape[2:])).attempt,
        says="`expand` can only stretch an axis of length 1, so it crashes where there is more than one head.",
        hints=[
            "What does `expand` do to an axis, and which axes does it take?",
            "A new axis has length 1. Where should it stand?",
            "`x[:, :, None].expand(-1, -1, n_repeats, -1, -1).flatten(1, 2)`, or `repeat_interleave`.",
        ],
    ),
]
