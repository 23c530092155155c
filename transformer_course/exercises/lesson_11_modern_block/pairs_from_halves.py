"""Reorder the rows of published matrices for the learner's RoPE."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def pairs_from_halves(weight: Float[Tensor, "rows d_model"], d_k: int) -> Float[Tensor, "rows d_model"]:
    """Reorder the rows of each head, so that those which RoPE rotates together are neighbors."""
    halves = weight.unflatten(0, (-1, 2, d_k // 2))
    return halves.transpose(1, 2).flatten(0, 2)


def heads(weight, d_k):
    """split the rows into heads of d_k rows → the heads: (n_heads, d_k, d_model)"""
    return weight.unflatten(0, (-1, d_k))


def halves(heads, d_k):
    """split each head into two halves → the halves: (n_heads, 2, d_k/2, d_model)"""
    return heads.unflatten(1, (2, d_k // 2))


def pairs(halves):
    """transpose the halves and their rows → the pairs: (n_heads, d_k/2, 2, d_model)"""
    return halves.transpose(1, 2)


def rows(pairs):
    """flatten heads, pairs and rows into one dimension → the reordered rows: (n_heads · d_k, d_model)"""
    return pairs.flatten(0, 2)


STEPS = InSteps(heads, halves, pairs, rows, reference=pairs_from_halves)


def pairs_from_halves_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    # The tens digit is the head and the units digit is the row, so moved rows are easy to see.
    readable = torch.tensor([10.0, 11.0, 12.0, 13.0, 20.0, 21.0, 22.0, 23.0])[:, None]
    return [
        Case({"weight": readable, "d_k": 4}, "2 heads of 4 rows"),
        Case({"weight": normal(rng, 6, 2), "d_k": 6}, "one head of 6 rows"),
        Case({"weight": normal(rng, 6, 5), "d_k": 2}, "3 heads of 2 rows"),
        Case({"weight": normal(rng, 16, 3), "d_k": 8}, "2 heads of 8 rows"),
        Case({"weight": normal(rng, 12, 12), "d_k": 6}, "2 heads of 6 rows, a square matrix"),
        Case({"weight": normal(rng, 7 * 20, 30), "d_k": 20}, "7 heads of 20 rows"),
    ]


MISTAKES = [
    Mistake(
        "one_head",
        STEPS.but(heads=lambda weight: weight[None], halves=lambda heads: heads.unflatten(1, (2, heads.shape[1] // 2))),
        summary="you split the whole matrix into two halves instead of each head",
        message=(
            "Your result is right for one head. With more heads, {summary}: in 2 heads of 4 rows, you pair row 0 with "
            "row 4 instead of row 2. Where do you use `d_k`?"
        ),
        hints=["With 2 heads of 4 rows, which rows are the second half of head 0?"],
    ),
    Mistake(
        "columns",
        STEPS.but(
            heads=lambda weight, d_k: weight.mT.unflatten(0, (-1, d_k)), rows=lambda pairs: pairs.flatten(0, 2).mT
        ),
        summary="you reorder the columns instead of the rows",
        message=(
            "{summary}. A linear layer's weight has shape (d_out, d_in), so each *row* computes one output. Which "
            "dimension should you reorder?"
        ),
        hints=[
            "Which dimension of `weight` counts the features of the query, and which counts the features of the input?"
        ],
    ),
    Mistake(
        "second_half_first",
        STEPS.but(halves=lambda halves: halves.flip(1)),
        summary="you put the row of the second half first in each pair",
        message=(
            "{summary}. In each head, row i should become row 2i, and its partner, row i + d_k/2, should become row 2i "
            "+ 1."
        ),
        hints=["In a head of 4 rows, rows 0 and 2 of the file are a pair. Which of them should come first?"],
    ),
]


EXERCISE = Exercise(
    reference=pairs_from_halves,
    steps=STEPS,
    cases=pairs_from_halves_cases,
    points=2,
    verified="In each head, rows i and i + d_k/2 of the file are now neighbors: rows 2i and 2i + 1.",
    hints=[
        "In one head of 6 rows, row 0 pairs with row 3, 1 with 4 and 2 with 5. What is the new order of the rows? And "
        "for two such heads?",
        "The row number has three parts: the head, the half, and the row in that half. In the new order, the half "
        "changes fastest.",
        "`weight.unflatten(0, (-1, 2, d_k // 2))` gives the three parts a dimension each. In which order should you "
        "read them?",
        "Swap dims 1 and 2 and merge all three with `.flatten(0, 2)`.",
    ],
    messages={
        "parts_exchanged_halves: (d_k // 2, 2)": Wording(
            "{summary}, but rows from different halves should become neighbors. With 4 rows per head, the result "
            "happens to be the same; with 6, it isn't.",
            summary="you move neighboring rows into different halves",
            hints=[
                "In a head of 6 rows, which row of the file is the partner of row 0? Is it the second row of your "
                "result?"
            ],
        ),
        "first_for_all_pairs": Wording(
            "{summary}. Each head has its own d_k rows of `weight`. In which row does head h begin?",
            summary="you fill every head with the rows of the first head",
        ),
        "call_left_out_pairs: halves": Wording(
            "{summary}, so you put the rows back in the same order. Which two dimensions should you swap?",
            summary="you never transpose the halves and their rows",
        ),
    },
    mistakes=MISTAKES,
)
