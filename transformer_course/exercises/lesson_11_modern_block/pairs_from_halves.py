"""Sort the rows of published matrices as the learner's RoPE expects them."""

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
    """cut the rows into heads of d_k rows → the heads: (n_heads, d_k, d_model)"""
    return weight.unflatten(0, (-1, d_k))


def halves(heads, d_k):
    """cut each head into two halves → the halves: (n_heads, 2, d_k/2, d_model)"""
    return heads.unflatten(1, (2, d_k // 2))


def pairs(halves):
    """swap the axis of the halves with that of their rows → the pairs: (n_heads, d_k/2, 2, d_model)"""
    return halves.transpose(1, 2)


def rows(pairs):
    """make one axis of heads, pairs and their two rows → the rows in their new order: (n_heads · d_k, d_model)"""
    return pairs.flatten(0, 2)


STEPS = InSteps(heads, halves, pairs, rows, reference=pairs_from_halves)


def pairs_from_halves_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    # The tens count heads, the units count rows, so that one can read where each row belongs.
    readable = torch.tensor([10.0, 11.0, 12.0, 13.0, 20.0, 21.0, 22.0, 23.0])[:, None]
    return [
        Case({"weight": readable, "d_k": 4}, "2 heads of 4 rows"),
        Case({"weight": normal(rng, 6, 2), "d_k": 6}, "one head of 6 rows"),
        Case({"weight": normal(rng, 6, 5), "d_k": 2}, "3 heads of 2 rows"),
        Case({"weight": normal(rng, 16, 3), "d_k": 8}, "2 heads of 8 rows"),
        Case({"weight": normal(rng, 12, 12), "d_k": 6}, "as many rows as columns"),
        Case({"weight": normal(rng, 7 * 20, 30), "d_k": 20}, "7 heads of 20 rows"),
    ]


MISTAKES = [
    Mistake(
        "one_head",
        STEPS.but(heads=lambda weight: weight[None], halves=lambda heads: heads.unflatten(1, (2, heads.shape[1] // 2))),
        summary="the halves are those of the whole matrix, not those of each head",
        message="One head is right. With more, {summary}. Look for what `d_k` is good for.",
        hints=["With 2 heads of 4 rows, which row is the partner of row 0: the 2 or the 4?"],
    ),
    Mistake(
        "columns",
        STEPS.but(
            heads=lambda weight, d_k: weight.mT.unflatten(0, (-1, d_k)), rows=lambda pairs: pairs.flatten(0, 2).mT
        ),
        summary="the columns are sorted, and not the rows",
        message=(
            "{summary}. A linear layer's weight is (d_out, d_in): what comes out of it, a query, is counted by the "
            "rows."
        ),
        hints=["Which axis of `weight` has the features of the query, and which those of the stream?"],
    ),
    Mistake(
        "second_half_first",
        STEPS.but(halves=lambda halves: halves.flip(1)),
        summary="in each pair, the row of the second half comes first",
        message="{summary}. Row i of the file becomes row 2i, and its partner row 2i + 1.",
    ),
]


EXERCISE = Exercise(
    reference=pairs_from_halves,
    steps=STEPS,
    cases=pairs_from_halves_cases,
    points=2,
    verified="In each head, rows i and i + d_k/2 of the file now stand beside each other, as rows 2i and 2i + 1.",
    hints=[
        "Write down the new order for one head of 6 rows: 0 goes with 3, 1 with 4, 2 with 5. Then for two such heads.",
        "Give the rows three axes, head, half, and place in the half: `weight.unflatten(0, (-1, 2, d_k // 2))`. In "
        "which order should these be read?",
        "Swap the axes 1 and 2, so that the half changes fastest, and make one axis of three with `.flatten(0, 2)`.",
    ],
    messages={
        "parts_exchanged_halves: (d_k // 2, 2)": Wording(
            "{summary}. With 4 rows to a head both ways are alike, with 6 they are not. Look at the axis that is cut.",
            summary="neighbors are moved apart, into two halves: that is the way back",
            hints=[
                "Of the rows 0 1 2 3 4 5, which is the partner of row 0 in the file? Is it the second row of yours?"
            ],
        ),
    },
    mistakes=MISTAKES,
)
