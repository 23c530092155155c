"""Weigh every key for every query."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.attention_steps import turned, weights
from transformer_course.exercises.shared.draw_cases import attention_cases
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def attention_weights(
    queries: Float[Tensor, "*batch n_query d"], keys: Float[Tensor, "*batch n_key d"]
) -> Float[Tensor, "*batch n_query n_key"]:
    """Weigh every key for every query; each row adds up to 1."""
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
    verified="One row per query, one column per key, rows that add up to 1, for any leading dimensions.",
    hints=[
        "Start with the scores: entry (i, j) is the dot product of query i and key j. What shape is that table?",
        "A matrix product takes the dot products of the rows of its left side with the *columns* of its right side. "
        "The keys are rows: what must happen to them first?",
        "`keys.mT`, or in words `keys.transpose(-2, -1)`, swaps only the last two axes, so batches stay in front.",
        "`queries @ keys.mT` are the scores. Then a softmax along the keys, the last axis.",
    ],
    messages={
        "axis_weights: scores.softmax(dim=-2)": attention_mistakes.SOFTMAX_OVER_THE_QUERIES,
        "other_axes_turned: keys.T": attention_mistakes.TRANSPOSES_THE_BATCH,
    },
    mistakes=MISTAKES,
)
