"""Attention: a soft lookup for many queries at once."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Wording
from transformer_course.exercises.lesson_01_lookup.attention_weights import scores
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.attention_steps import mixture, turned, weights
from transformer_course.exercises.shared.draw_cases import attention_cases
from transformer_course.steps import InSteps


def attention(
    queries: Float[Tensor, "*batch n_query d"],
    keys: Float[Tensor, "*batch n_key d"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Return, for each query, the average of the values, weighted by how well their keys match the query."""
    weights = torch.softmax(queries @ keys.transpose(-2, -1), dim=-1)
    return weights @ values


STEPS = InSteps(turned, scores, weights, mixture, reference=attention)


MISTAKES = [
    attention_mistakes.overflows(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
    *attention_mistakes.of_the_products(STEPS),
    *attention_mistakes.of_the_transposition(STEPS),
    *attention_mistakes.of_scaling_too_early(STEPS),
]


EXERCISE = Exercise(
    reference=attention,
    steps=STEPS,
    may_cut_gradients=True,
    cases=attention_cases,
    points=5,
    verified="Your output has one row for each query and the width of the values, for any leading dimensions.",
    hints=[
        "One lookup takes three steps: scores, weights, weighted average. Which of them have you already written for "
        "many queries?",
        "`parts.attention_weights(queries, keys)` has shape (n_query, n_key), and `values` has shape (n_key, d_v). "
        "Which product has shape (n_query, d_v)?",
        "In the matrix product of the weights and the values, row i is the sum of all the values, weighted by row i of "
        "the weights.",
        "`parts.attention_weights(queries, keys) @ values`.",
    ],
    messages={
        **attention_mistakes.WEIGHT_MESSAGES,
        **attention_mistakes.SOFTMAX_OVER_A_FIXED_DIMENSION,
        "scaled_weights: § / §.shape[-1]": attention_mistakes.DIVIDED_BY_THE_NUMBER_OF_KEYS,
        "sign_scores": attention_mistakes.WORST_MATCH_FIRST,
        "values_exchanged_queries: keys": attention_mistakes.QUERIES_AND_KEYS_SWAPPED,
        "other_axes_turned: keys.T": attention_mistakes.TRANSPOSES_THE_BATCH,
        "product_scores: (turned).mT @ (queries)": Wording(
            "You multiply the keys by the queries, as in a lookup for a single query. Here, each *row* of `queries` is "
            "a query, so the shapes don't match unless n_query = d. Which product has one row per query?",
            summary="you multiply the keys by the queries, as for a single query",
            hints=["In (n_key, d) @ (n_query, d), which sizes would have to be equal?"],
        ),
    },
    mistakes=MISTAKES,
)
