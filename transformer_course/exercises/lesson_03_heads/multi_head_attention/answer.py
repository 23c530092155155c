"""The answer to ``MultiHeadAttention``, plainly and in steps."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_course.exercises.shared.attention_steps import SCALED, fill, mixture, visible, weights
from transformer_course.exercises.shared.head_steps import merged, output, scores
from transformer_course.steps import InSteps


class MultiHeadAttention(nn.Module):
    """Let every query attend in several ways at once, each head comparing other features."""

    def __init__(self, d_model: int, n_heads: int) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(
        self,
        query: Float[Tensor, "batch n_query d_model"],
        key: Float[Tensor, "batch n_key d_model"],
        value: Float[Tensor, "batch n_key d_model"],
        mask: Bool[Tensor, "*#batch #n_query #n_key"] | None = None,
    ) -> Float[Tensor, "batch n_query d_model"]:
        q, k, v = self.w_q(query), self.w_k(key), self.w_v(value)
        q, k, v = (x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2) for x in (q, k, v))
        scores = q @ k.mT / q.shape[-1] ** 0.5  # (batch, n_heads, n_query, n_key)
        if mask is not None:
            scores = scores.masked_fill(~mask, -torch.inf)
        heads = torch.softmax(scores, dim=-1) @ v
        return self.w_o(heads.transpose(1, 2).flatten(2))


def from_query(self, query):
    """project the queries

    what `w_q` makes of `query`
    """
    return self.w_q(query)


def from_key(self, key):
    """project the keys

    what `w_k` makes of `key`
    """
    return self.w_k(key)


def from_value(self, value):
    """project the values

    what `w_v` makes of `value`
    """
    return self.w_v(value)


def split(self):
    """say how features are split into heads

    the function that splits features into heads
    """
    return lambda x: x.unflatten(-1, (self.n_heads, -1)).transpose(1, 2)


def queries(split, from_query):
    """split the queries into heads

    the queries of each head
    """
    return split(from_query)


def keys(split, from_key):
    """split the keys into heads

    the keys of each head
    """
    return split(from_key)


def values(split, from_value):
    """split the values into heads

    the values of each head
    """
    return split(from_value)


def hidden(visible):
    """turn the mask round, if there is one

    the places where looking is not allowed
    """
    return None if visible is None else ~visible


STEPS = InSteps(
    from_query,
    from_key,
    from_value,
    split,
    queries,
    keys,
    values,
    *SCALED,
    visible,
    hidden,
    fill,
    scores,
    weights,
    mixture,
    merged,
    output,
    reference=MultiHeadAttention,
)
