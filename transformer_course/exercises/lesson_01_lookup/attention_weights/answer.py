"""The answer to ``attention_weights``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercises.shared.attention_steps import turned, weights
from transformer_course.steps import InSteps


def attention_weights(
    queries: Float[Tensor, "*batch n_query d"], keys: Float[Tensor, "*batch n_key d"]
) -> Float[Tensor, "*batch n_query n_key"]:
    """Weigh every key for every query; each row adds up to 1."""
    scores = queries @ keys.transpose(-2, -1)
    return torch.softmax(scores, dim=-1)


def scores(queries, turned):
    """multiply every query by every key

    the scores
    """
    return queries @ turned


STEPS = InSteps(turned, scores, weights, reference=attention_weights)
