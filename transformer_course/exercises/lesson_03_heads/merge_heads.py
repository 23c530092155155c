"""Merge heads: the inverse of splitting."""

import torch

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps
from transformer_lab.attention.multi_head import merge_heads


def swapped(x):
    """swap heads and positions → the transposed heads: (batch, n, n_heads, d_k)"""
    return x.transpose(1, 2)


def n(x):
    """read the number of positions → the number of positions: the size of dim 2"""
    return x.shape[2]


def d_model(x):
    """multiply the number of heads by their width → the width of the merged heads: n_heads · d_k"""
    return x.shape[1] * x.shape[3]


def merged(x, swapped, n, d_model):
    """flatten heads and features into one dimension → the merged heads: (batch, n, n_heads · d_k)"""
    return swapped.reshape(len(x), n, d_model)


STEPS = InSteps(swapped, n, d_model, merged, reference=merge_heads)


def merge_heads_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    # The tens digit is the position and the units digit is the feature, so moved entries are easy to see.
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
        summary="you call `view` on a transposed tensor",
        message=(
            "Your two steps are right, but {summary}, which isn't contiguous, so `view` raises an error. What does the "
            "error message suggest?"
        ),
        hints=["What is `x.transpose(1, 2).is_contiguous()`?"],
    ),
    Mistake(
        "takes_heads_for_positions",
        STEPS.but(merged=lambda x, swapped: swapped.reshape(len(x), x.shape[1], -1)),
        summary="you use the number of heads as the number of positions",
        message=(
            "{summary}, so your result has one row for each head instead of each position. Which size of x is the "
            "number of positions?"
        ),
        hints=["x has shape (batch, n_heads, n, d_k). Which dimension holds the positions?"],
    ),
    Mistake(
        "heads_below_each_other",
        STEPS.but(merged=lambda x: x.flatten(1, 2)),
        summary="you concatenate the heads along the positions",
        message=(
            "{summary}, so with 2 heads each position has 2 rows of d_k features. It should have one row with the "
            "features of both heads. Along which dimension should you concatenate?"
        ),
        hints=[
            "For 2 heads of 3 positions and 4 features, what shape should the result have? What shape does yours have?"
        ],
    ),
    Mistake(
        "sum_of_the_heads",
        STEPS.but(merged=lambda x: x.sum(dim=1)),
        summary="you add up the heads",
        message=(
            "{summary}, so the separate features of each head are lost. With 2 heads of width 3, each row should hold "
            "6 features: 3 of head 0, then 3 of head 1. Which operation puts them side by side?"
        ),
        hints=["With 2 heads of width 3, how wide should the result be? How wide is yours?"],
    ),
    Mistake(
        "mean_of_the_heads",
        STEPS.but(merged=lambda x: x.mean(dim=1)),
        STEPS.but(merged=lambda x: x.mean(dim=1).repeat(1, 1, x.shape[1])),
        summary="you average the heads",
        message=(
            "{summary}, so the separate features of each head are lost. With 2 heads of width 3, each row should hold "
            "6 features: 3 of head 0, then 3 of head 1. Which operation puts them side by side?"
        ),
        hints=["With 2 heads of 2 features each, which 4 numbers should a row of the result hold?"],
    ),
    Mistake(
        "batch_and_positions_in_one_dimension",
        STEPS.but(merged=lambda merged: merged.flatten(0, 1)),
        summary="you flatten batch and positions into one dimension",
        message=(
            "{summary}, so the positions of all sequences end up in one long matrix. Which three dimensions should the "
            "output have?"
        ),
        hints=["For a batch of 2 and 5 positions, what should the first two sizes of the output be?"],
    ),
]


EXERCISE = Exercise(
    reference=merge_heads,
    steps=STEPS,
    cases=merge_heads_cases,
    points=2,
    verified="Every position has its features back, head after head. This is the inverse of `split_heads`.",
    hints=[
        "`merge_heads` undoes `split_heads`. Which two steps does `split_heads` take, and in which order do you have "
        "to undo them?",
        "First bring the positions back in front of the heads: (batch, n, n_heads, d_k). Then flatten the last two "
        "dimensions into one.",
        "`.transpose(1, 2)`, then `.reshape(batch, n, n_heads * d_k)`, or `.flatten(2)`, which joins all dimensions "
        "from dim 2 on.",
    ],
    messages={
        "transposed_swapped": Wording(
            "{summary}: with 2 heads, head 0 fills columns 0, 2, 4 … instead of neighboring ones. In which order "
            "should the dimensions be before you flatten the last two?",
            summary="you interleave the features of the heads",
            hints=["With 2 heads of width 2, which columns of a merged row should head 0 fill?"],
        ),
        "call_left_out_swapped: x": Wording(
            "You never swap the head and position dimensions, so each output row mixes features of different "
            "positions. Which dimension should come right after the batch when you merge the heads?",
            summary="you never swap the head and position dimensions",
            hints=["In the first case, row 0 should hold 10, 11, 12 and 13. What does yours hold?"],
        ),
        "other_axes_swapped: x.transpose(-2, -1)": Wording(
            "You swap positions and features instead of heads and positions, so your result has the right shape but "
            "mixes several positions in each row. Which two dimensions should you swap?",
            summary="you swap positions and features instead of heads and positions",
            hints=["In (batch, n_heads, n, d_k), which dimensions are the heads and the positions?"],
        ),
    },
    mistakes=MISTAKES,
)
