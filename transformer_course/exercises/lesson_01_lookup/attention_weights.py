"""Attention weights: how much each query attends to each key."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Wording
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.attention_steps import turned, weights
from transformer_course.exercises.shared.draw_cases import attention_cases
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def attention_weights(
    queries: Float[Tensor, "*batch n_query d"], keys: Float[Tensor, "*batch n_key d"]
) -> Float[Tensor, "*batch n_query n_key"]:
    """Return the weight of every key for every query. Each row sums to 1."""
    scores = queries @ keys.transpose(-2, -1)
    return torch.softmax(scores, dim=-1)


def scores(queries, turned):
    """multiply every query by every key → the scores"""
    return queries @ turned


STEPS = InSteps(turned, scores, weights, reference=attention_weights)


def attention_weights_cases(seed: int) -> list[Case]:
    return [
        Case({name: case.inputs[name] for name in ("queries", "keys")}, case.label.partition(", values")[0])
        for case in attention_cases(seed)
    ]


MISTAKES = [
    attention_mistakes.overflows(STEPS),
    *attention_mistakes.of_the_products(STEPS),
    *attention_mistakes.of_the_transposition(STEPS),
    *attention_mistakes.of_scaling_too_early(STEPS),
]


EXERCISE = Exercise(
    reference=attention_weights,
    steps=STEPS,
    may_cut_gradients=True,
    cases=attention_weights_cases,
    points=2,
    verified=(
        "You have one row for each query and one column for each key, and every row sums to 1, for any leading "
        "dimensions."
    ),
    hints=[
        "Start with the scores: entry (i, j) is the dot product of query i and key j. What shape do they have for 2 "
        "queries and 3 keys?",
        "A matrix product takes the dot products of the rows on its left with the *columns* on its right. The keys are "
        "rows. What should you do to the keys first?",
        "`keys.mT`, or `keys.transpose(-2, -1)`, swaps only the last two dimensions, so the batch stays in front.",
        "`queries @ keys.mT` computes the scores. Then take the softmax over the keys, the last dimension.",
    ],
    messages={
        **attention_mistakes.WEIGHT_MESSAGES,
        **attention_mistakes.SOFTMAX_OVER_A_FIXED_DIMENSION,
        "sign_scores": attention_mistakes.WORST_MATCH_FIRST,
        "values_exchanged_queries: keys": attention_mistakes.QUERIES_AND_KEYS_SWAPPED,
        "transposed_weights": Wording(
            "{summary}, so row i holds the weights for key i instead of query i. Which tensor should come first in the "
            "product, the queries or the keys?",
            summary="you return the transposed weights",
            hints=["With 2 queries and 3 keys, what shape should the weights have? What shape do yours have?"],
        ),
        "other_axes_turned: keys.T": attention_mistakes.TRANSPOSES_THE_BATCH,
    },
    mistakes=MISTAKES,
)
