"""Weigh every key for every query."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.call import Case
from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.drawing import attention_cases


def attention_weights(
    queries: Float[Tensor, "*batch n_query d"], keys: Float[Tensor, "*batch n_key d"]
) -> Float[Tensor, "*batch n_query n_key"]:
    """Weigh every key for every query; each row adds up to 1."""
    scores = queries @ keys.transpose(-2, -1)
    return torch.softmax(scores, dim=-1)


def attention_weights_cases(seed: int) -> list[Case]:
    return [
        Case({name: case.inputs[name] for name in ("queries", "keys")}, case.shows) for case in attention_cases(seed)
    ]


def raw_scores(queries, keys):
    return queries @ keys.mT


def softmax_over_queries(queries, keys):
    return torch.softmax(queries @ keys.mT, dim=-2)


def axis_from_the_front(queries, keys):
    return torch.softmax(queries @ keys.mT, dim=1)


def keys_by_queries(queries, keys):
    return torch.softmax(keys @ queries.mT, dim=-1)


def no_transpose(queries, keys):
    return torch.softmax(queries @ keys, dim=-1)


def transposes_the_batch(queries, keys):
    return torch.softmax(queries @ keys.permute(*reversed(range(keys.dim()))), dim=-1)


def scaled_too_early(queries, keys):
    return torch.softmax(queries @ keys.mT / queries.shape[-1] ** 0.5, dim=-1)


ATTENTION_WEIGHTS = Exercise(
    reference=attention_weights,
    cases=attention_weights_cases,
    points=2,
    verified="One row per query, one column per key, rows that add up to 1, for any leading dimensions. "
    "Next: mix the values with them.",
    hints=[
        "Start with the scores: entry (i, j) is the dot product of query i and key j. What shape is that table?",
        "A matrix product takes the dot products of the rows of its left side with the *columns* of its right side. "
        "The keys are rows: what must happen to them first?",
        "`queries @ keys.transpose(-2, -1)` swaps only the last two axes, so batches stay in front. Then a softmax "
        "along the keys.",
    ],
    mistakes=[
        Mistake(
            raw_scores,
            "These are the scores: rows do not add up to 1 yet. One step is missing.",
            [
                "Print the row sums of what you return.",
                "Which function turns a row of scores into weights?",
                "A softmax over the last axis, that of the keys.",
            ],
        ),
        Mistake(
            softmax_over_queries,
            "The columns add up to 1 instead of the rows: the queries compete for each key. It should be the keys that "
            "compete for each query. Look at the axis of your softmax.",
            [
                "Print `weights.sum(dim=-1)` and `weights.sum(dim=-2)`.",
                "Row i belongs to query i and runs over the keys. Along which axis lie the keys?",
                "The keys are the last axis: `dim=-1`.",
            ],
        ),
        Mistake(
            axis_from_the_front,
            "Right for one table, but your axis is counted from the front: with a batch in front, `dim=1` is another "
            "axis. Look at how you name the axis.",
            [
                "For scores of shape (batch, n_query, n_key), which axis is number 1?",
                "Which way of counting does not depend on what stands in front?",
                "`dim=-1`.",
            ],
        ),
        Mistake(
            keys_by_queries,
            "Your table has one row per *key*. It should have one row per query. Look at the order of the product.",
            [
                "What shape do you get for 2 queries and 3 keys? Which is asked for?",
                "In `a @ b`, the rows of the result are the rows of a.",
                "The queries go on the left, the transposed keys on the right.",
            ],
        ),
        Mistake(
            no_transpose,
            "`queries @ keys` pairs the width of the queries with the *number* of keys. That crashes, or, where the "
            "two happen to be equal, gives nonsense. Look at the shapes on both sides of the `@`.",
            [
                "(n_query, d) @ (n_key, d): which two numbers have to be equal in a matrix product?",
                "Each key should be a column on the right-hand side.",
                "Transpose the last two axes of the keys.",
            ],
        ),
        Mistake(
            transposes_the_batch,
            "Reversing *all* the axes of the keys moves the batch as well. Right for one table; with a batch in front "
            "it goes wrong. Look at which axes you swap.",
            [
                "What shape does your transposition make of keys of shape (7, 3, 4)?",
                "Only the last two axes belong to the matrix.",
                "`keys.transpose(-2, -1)`, or `keys.mT`.",
            ],
        ),
        Mistake(
            scaled_too_early,
            "You divide the scores by √d. That is lesson 02, and a good idea, but here the plain dot products are "
            "asked for.",
            [
                "The formula of this lesson is softmax(q kᵀ).",
                "Is there a square root in your code?",
                "Leave the division out for now.",
            ],
        ),
    ],
)
