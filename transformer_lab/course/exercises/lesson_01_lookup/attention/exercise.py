"""Look many queries up at once."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.exercise import Exercise
from transformer_lab.course.exercises.lesson_01_lookup.attention.mistakes import MISTAKES
from transformer_lab.course.exercises.shared.draw_cases import attention_cases


def attention(
    queries: Float[Tensor, "*batch n_query d"],
    keys: Float[Tensor, "*batch n_key d"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Look every query up: mix the values by how well the keys match it."""
    weights = torch.softmax(queries @ keys.transpose(-2, -1), dim=-1)
    return weights @ values


ATTENTION = Exercise(
    reference=attention,
    may_cut_gradients=True,
    cases=attention_cases,
    points=3,
    verified="The output has one row per query and the width of the values, for any leading dimensions. "
    "Next: its formula, and what it does to sequences.",
    hints=[
        "It is `soft_lookup` for many queries at once. Which of its steps are there already for many queries?",
        "`parts.attention_weights(queries, keys)` has the shape (n_query, n_key), `values` has (n_key, d_v). What "
        "gives (n_query, d_v)?",
        "A matrix product of the weights and the values: row i of the result is the sum of all values, weighted by row "
        "i of the weights.",
    ],
    mistakes=MISTAKES,
)
