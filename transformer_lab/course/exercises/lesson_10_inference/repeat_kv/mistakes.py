"""What goes wrong when heads are repeated."""

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_10_inference.repeat_kv.answer import STEPS

MISTAKES = [
    Mistake(
        "whole_row_repeated",
        [STEPS.but(copies=lambda x, n_repeats: x[:, None].expand(-1, n_repeats, -1, -1, -1))],
        does="all the heads are repeated one after another (A B A B), not each next to itself",
        says="The heads come as A B A B. Each should be repeated next to itself, so that neighbours share a head.",
        hints=[
            "Print `torch.arange(2).repeat(3)` and `torch.arange(2).repeat_interleave(3)`.",
            "Query heads 0 to n_repeats − 1 should all find key-value head 0.",
            "`x.repeat_interleave(n_repeats, dim=1)`.",
        ],
    ),
    Mistake(
        "repeats_positions",
        [STEPS.but(repeated=lambda x, n_repeats: x.repeat_interleave(n_repeats, dim=2))],
        does="positions are repeated, not heads",
        says="Positions are repeated, not heads. Look at the axis.",
        hints=[
            "What shape is asked for, and what shape comes out?",
            "In (batch, n_kv_heads, n, d), which axis are the heads?",
            "`dim=1`.",
        ],
    ),
    Mistake(
        "never_repeated",
        [STEPS.but(repeated=lambda x: x)],
        does="nothing is repeated",
        says="The heads come back as they went in. There should be n_repeats times as many.",
        hints=[
            "What shape is asked for, and what shape comes out?",
            "Does `n_repeats` occur in the code, and is what is made with it returned?",
            "`x.repeat_interleave(n_repeats, dim=1)`.",
        ],
    ),
    Mistake(
        "axes_not_merged",
        [STEPS.but(repeated=lambda copies: copies)],
        does="the copies keep an axis of their own",
        says="The copies have an axis of their own: five axes come out, and four are asked for.",
        hints=[
            "What shape is asked for, and what shape comes out?",
            "Heads and copies stand side by side as two axes. They should become one.",
            "`.flatten(1, 2)`, or `.reshape(batch, n_kv_heads * n_repeats, n, d)`.",
        ],
    ),
]
