"""Look many queries up at once."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise
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
    """Look every query up: average the values, weighted by how well their keys match it."""
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
    points=3,
    verified="The output has one row per query and the width of the values, for any leading dimensions.",
    hints=[
        "It is `soft_lookup` for many queries at once. Which of its steps are there already for many queries?",
        "`parts.attention_weights(queries, keys)` has the shape (n_query, n_key), `values` has (n_key, d_v). What "
        "gives (n_query, d_v)?",
        "A matrix product of the weights and the values: row i of the result is the sum of all values, weighted by row "
        "i of the weights.",
    ],
    messages={
        "axis_weights: scores.softmax(dim=-2)": attention_mistakes.SOFTMAX_OVER_THE_QUERIES,
        "other_axes_turned: keys.T": attention_mistakes.TRANSPOSES_THE_BATCH,
        "product_scores: (turned).mT @ (queries)": (
            "A lookup of a single query is handed a whole table of them: it crashes. Look at the shapes that "
            "it was written for."
        ),
    },
    mistakes=MISTAKES,
)
