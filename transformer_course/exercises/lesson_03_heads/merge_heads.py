"""Put heads side by side again."""

import torch

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.attention.multi_head import merge_heads


def swapped(x):
    """swap the axes of heads and positions → the heads with the positions in front: (batch, n, n_heads, d_k)"""
    return x.transpose(1, 2)


def n(x):
    """read off the number of positions → the number of positions: the length of axis 2"""
    return x.shape[2]


def d_model(x):
    """multiply the number of heads by the width of one → the width of all heads together: n_heads times d_k"""
    return x.shape[1] * x.shape[3]


def merged(x, swapped, n, d_model):
    """make one axis of the heads and their features → the heads side by side: (batch, n, n_heads · d_k)"""
    return swapped.reshape(len(x), n, d_model)


STEPS = InSteps(swapped, n, d_model, merged, reference=merge_heads)


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


MISTAKES = [
    Mistake(
        "views_the_transposed",
        STEPS.but(merged=lambda x, swapped, n, d_model: swapped.view(len(x), n, d_model)),
        summary="`view` is asked of a transposed tensor",
        message=(
            "The two steps are right, but `view` refuses: after a transposition the numbers no longer lie in memory in "
            "the order in which `view` would read them. Look at what was said about `contiguous`."
        ),
        hints=["Which of the two steps crashes, and what does the error message advise?"],
    ),
    Mistake(
        "takes_heads_for_positions",
        STEPS.but(merged=lambda x, swapped: swapped.reshape(len(x), x.shape[1], -1)),
        summary="the number of heads is taken for that of positions",
        message=(
            "The result has as many rows as there were heads. There should be one for each position. Right only where "
            "the two numbers are equal. Look at where the length of the result is taken from."
        ),
        hints=["x comes with the shape (batch, n_heads, n, d_k). Which number of it is taken for the positions?"],
    ),
    Mistake(
        "heads_below_each_other",
        STEPS.but(merged=lambda x: x.flatten(1, 2)),
        summary="the heads are put below each other, along the positions",
        message=(
            "You put the heads below each other, so with 2 heads each position has 2 rows of d_k features. It should "
            "have one row with the features of both. Which axis should the heads be joined along?"
        ),
        hints=["2 heads of 3 positions and 4 features: which shape should the result have, and which has yours?"],
    ),
    Mistake(
        "sum_of_the_heads",
        STEPS.but(merged=lambda x: x.sum(dim=1)),
        STEPS.but(merged=lambda x: x.mean(dim=1)),
        summary="the heads are made one by a sum or a mean",
        message=(
            "{summary}, and what each of them found cannot be told apart any more. They should be kept side by side."
        ),
    ),
]


EXERCISE = Exercise(
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
    messages={
        "other_axes_swapped: x.transpose(-2, -1)": (
            "The shape is right, but the wrong two axes are swapped: positions and features, where heads and "
            "positions should be. Look at the axes that are named."
        ),
    },
    mistakes=MISTAKES,
)
