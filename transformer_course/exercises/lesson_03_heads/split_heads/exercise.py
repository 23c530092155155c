"""Cut vectors into heads."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_03_heads.split_heads.answer import STEPS
from transformer_course.exercises.lesson_03_heads.split_heads.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_lab.attention.multi_head import split_heads


def split_heads_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    # The tens count positions, the units count features, so that one can read where each number belongs.
    readable = torch.tensor([[[10.0, 11.0, 12.0, 13.0], [20.0, 21.0, 22.0, 23.0]]])
    return [
        Case({"x": readable, "n_heads": 2}, "2 positions of 4 features, 2 heads"),
        Case({"x": normal(rng, 1, 3, 4), "n_heads": 1}, "one head: nothing to cut"),
        Case({"x": normal(rng, 2, 1, 6), "n_heads": 2}, "a batch of 2: one position of 6 features, 2 heads"),
        Case({"x": normal(rng, 2, 5, 12), "n_heads": 3}, "a batch of 2: 5 positions of 12 features, 3 heads"),
        Case({"x": normal(rng, 7, 31, 88), "n_heads": 8}, "a batch of 7: 31 positions of 88 features, 8 heads"),
    ]


SPLIT_HEADS = Exercise(
    reference=split_heads,
    steps=STEPS,
    cases=split_heads_cases,
    points=2,
    verified="Head i holds features i·d_k to (i + 1)·d_k − 1 of every position.",
    hints=[
        "Two steps. First cut the last axis, d_model, into n_heads pieces of d_model / n_heads features. Which shape "
        "is that, and which axis is still in the wrong place?",
        "Cutting an axis in two, in place, is what `view` and `reshape` are good at: (batch, n, d_model) to "
        "(batch, n, n_heads, d_k). Now the heads stand behind the positions.",
        "`x.view(batch, n, n_heads, d_model // n_heads)`, then swap axes 1 and 2 with `.transpose(1, 2)`.",
    ],
    told={
        "other_axes_heads: cut.transpose(-2, -1)": (
            "The heads have ended up last: the wrong two axes are swapped, or a new axis is put there. Look "
            "at which axes are named."
        ),
        "parts_exchanged_sizes": (
            "The number of heads and their width are mixed up: there are d_k heads of n_heads features each. "
            "It goes unnoticed only where the two are equal. Look at the two numbers the last axis is cut "
            "into."
        ),
    },
    mistakes=MISTAKES,
)
