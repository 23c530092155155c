"""The answer to ``scaled_dot_product_attention``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercises.shared.attention_steps import ATTENTION
from transformer_course.steps import InSteps


def scaled_dot_product_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Let every query average the values, with scores whose size does not depend on d_k."""
    d_k = queries.shape[-1]
    scores = queries @ keys.transpose(-2, -1) / d_k**0.5
    return torch.softmax(scores, dim=-1) @ values


STEPS = InSteps(*ATTENTION, reference=scaled_dot_product_attention)
