"""The answer to ``masked_attention``, plainly and in steps."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.exercises.shared.attention_steps import SCALED, fill, mixture, visible
from transformer_course.exercises.shared.head_steps import probabilities
from transformer_course.steps import InSteps


def masked_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
    mask: Bool[Tensor, "*#batch #n_query #n_key"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Let every query average the values it may attend to, by scaled scores; zeros if there are none."""
    scores = queries @ keys.transpose(-2, -1) / queries.shape[-1] ** 0.5
    sees_nothing = ~mask.any(dim=-1, keepdim=True)
    allowed = mask | sees_nothing  # no row of -inf reaches the softmax: its result and its gradient would be nan
    weights = torch.softmax(scores.masked_fill(~allowed, -torch.inf), dim=-1)
    return weights.masked_fill(sees_nothing, 0.0) @ values


def empty(visible):
    """find the queries that may see nothing

    which queries may see nothing
    """
    return ~visible.any(dim=-1, keepdim=True)


def hidden(visible, empty):
    """choose what to hide: nothing where a query may see nothing, as a row of −∞ gives nan

    what is hidden, but for the rows in which all is
    """
    return ~(visible | empty)


def scores(scaled, hidden, fill):
    """fill it in where something is hidden

    the masked scores
    """
    return scaled.masked_fill(hidden, fill)


def weights(probabilities, empty):
    """set the weights of queries that may see nothing to 0

    the weights
    """
    return probabilities.masked_fill(empty, 0.0)


STEPS = InSteps(
    *SCALED, visible, empty, hidden, fill, scores, probabilities, weights, mixture, reference=masked_attention
)
