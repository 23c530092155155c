"""The answer to ``attention``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercises.lesson_01_lookup.attention_weights.answer import scores
from transformer_course.exercises.shared.attention_steps import mixture, turned, weights
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
