"""Cut vectors into heads."""

import torch

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.attention.multi_head import split_heads


def d_k(x, n_heads):
    """divide the width by the number of heads → the width of a head: d_model divided by n_heads"""
    return x.shape[2] // n_heads


def sizes(n_heads, d_k):
    """put the number of heads before the width of one → the two sizes of the last axis: n_heads and d_k"""
    return n_heads, d_k


def cut(x, sizes):
    """cut the last axis into heads and features → the features, cut into heads: (batch, n, n_heads, d_k)"""
    return x.reshape(*x.shape[:2], *sizes)


def heads(cut):
    """swap the axes of positions and heads → the heads: (batch, n_heads, n, d_k)"""
    return cut.transpose(1, 2)


STEPS = InSteps(d_k, sizes, cut, heads, reference=split_heads)


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


MISTAKES = [
    Mistake(
        "splits_by_view",
        STEPS.but(heads=lambda x, sizes: x.reshape(len(x), sizes[0], x.shape[1], sizes[1])),
        summary="the numbers are dealt out to the heads in the order in which they are stored",
        message=(
            "The shape is right, but the heads got positions instead of features: the first head holds everything "
            "about the first positions, and nothing about the last."
        ),
        hints=["In the first case, head 0 should hold 10, 11 of the first position and 20, 21 of the second."],
    ),
    Mistake(
        "heads_interleaved",
        STEPS.but(cut=lambda x, n_heads, d_k: x.reshape(*x.shape[:2], d_k, n_heads).mT),
        summary="the features are dealt out in turn: head 0 gets 0, h, 2h and so on",
        message=(
            "A fair way to cut, but not the one asked for: the features are dealt out in turn, so head 0 holds "
            "features 0, h, 2h … Each head should hold neighbors. A model that was trained with one layout cannot be "
            "used with the other. Look at which of the two new axes comes first."
        ),
        hints=["With 4 features and 2 heads, which features does head 0 hold? It should be 0 and 1."],
    ),
]


EXERCISE = Exercise(
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
    messages={
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
