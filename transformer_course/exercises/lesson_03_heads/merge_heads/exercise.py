"""Put heads side by side again."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_03_heads.merge_heads.answer import STEPS
from transformer_course.exercises.lesson_03_heads.merge_heads.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_lab.attention.multi_head import merge_heads


def merge_heads_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    # The tens count positions, the units count features, so that one can read where each number belongs.
    readable = torch.tensor([[[[10.0, 11.0], [20.0, 21.0]], [[12.0, 13.0], [22.0, 23.0]]]])
    return [
        Case({"x": readable}, "2 heads, 2 positions, 2 features each"),
        Case({"x": normal(rng, 1, 1, 3, 4)}, "one head"),
        Case({"x": normal(rng, 2, 3, 5, 4)}, "a batch of 2: 3 heads, 5 positions, 4 features each"),
        Case({"x": normal(rng, 7, 8, 31, 11)}, "a batch of 7: 8 heads, 31 positions, 11 features each"),
    ]


MERGE_HEADS = Exercise(
    reference=merge_heads,
    steps=STEPS,
    cases=merge_heads_cases,
    points=2,
    verified="Every position has its features back, head after head: the inverse of split_heads.",
    hints=[
        "It undoes `split_heads`. Which two steps did that take, and in which order must they be undone?",
        "First bring the positions back in front of the heads: (batch, n, n_heads, d_k). Then make one axis of the "
        "last two.",
        "`.transpose(1, 2)`, then `.reshape(batch, n, n_heads * d_k)`; or `.flatten(2)`, which makes one axis of all "
        "from axis 2 on.",
    ],
    told={
        "other_axes_swapped: x.transpose(-2, -1)": (
            "The shape is right, but the wrong two axes are swapped: positions and features, where heads and "
            "positions should be. Look at the axes that are named."
        ),
    },
    mistakes=MISTAKES,
)
