"""The reference for ``GroupedQueryAttention``, and the same answer in steps."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_course.exercises.shared.attention_steps import SCALED, fill, mixture, visible
from transformer_course.exercises.shared.head_steps import merged, output, probabilities, scores
from transformer_course.exercises.shared.library_parts import parts
from transformer_course.steps import InSteps


class GroupedQueryAttention(nn.Module):
    """Multi-head attention in which several query heads share each key-value head."""

    def __init__(self, d_model: int, n_heads: int, n_kv_heads: int) -> None:
        super().__init__()
        self.n_heads, self.n_kv_heads = n_heads, n_kv_heads
        d_kv = d_model // n_heads * n_kv_heads
        self.w_q = nn.Linear(d_model, d_model, bias=False)
        self.w_k = nn.Linear(d_model, d_kv, bias=False)
        self.w_v = nn.Linear(d_model, d_kv, bias=False)
        self.w_o = nn.Linear(d_model, d_model, bias=False)

    def forward(
        self, x: Float[Tensor, "batch n d_model"], mask: Bool[Tensor, "*#batch #n #n"] | None = None
    ) -> Float[Tensor, "batch n d_model"]:
        q = parts.split_heads(self.w_q(x), self.n_heads)
        k, v = (parts.split_heads(layer(x), self.n_kv_heads) for layer in (self.w_k, self.w_v))
        k, v = (heads.repeat_interleave(self.n_heads // self.n_kv_heads, dim=1) for heads in (k, v))
        mask = torch.ones(1, 1, dtype=torch.bool) if mask is None else mask
        return self.w_o(parts.merge_heads(parts.masked_attention(q, k, v, mask)))


def from_queries(self, x):
    """apply `w_q` to x → the projected queries"""
    return self.w_q(x)


def from_keys(self, x):
    """apply `w_k` to x → the projected keys"""
    return self.w_k(x)


def from_values(self, x):
    """apply `w_v` to x → the projected values"""
    return self.w_v(x)


def split():
    """split the features into heads → the function that splits features into heads → the split into heads"""
    return lambda features, n_heads: features.unflatten(-1, (n_heads, -1)).transpose(1, 2)


def n_repeats(self):
    """divide `n_heads` by `n_kv_heads` → the number of query heads per key-value head → the number of repeats"""
    return self.n_heads // self.n_kv_heads


def repeated(n_repeats):
    """repeat each head next to itself → the function that repeats each head next to itself → the repetition of heads"""
    return lambda heads: heads.repeat_interleave(n_repeats, dim=1)


def queries(self, split, from_queries):
    """split the queries into `n_heads` heads → the queries of each head"""
    return split(from_queries, self.n_heads)


def keys(self, split, repeated, from_keys):
    """split the keys into `n_kv_heads` heads and repeat each → the keys of each query head"""
    return repeated(split(from_keys, self.n_kv_heads))


def values(self, split, repeated, from_values):
    """split the values into `n_kv_heads` heads and repeat each → the values of each query head"""
    return repeated(split(from_values, self.n_kv_heads))


def empty(visible):
    """find the queries that may attend to nothing → the queries without visible keys"""
    return None if visible is None else ~visible.any(dim=-1, keepdim=True)


def hidden(visible, empty):
    """unmask all keys for queries without visible keys → the masked-out keys: none for queries without visible keys"""
    return None if visible is None else ~(visible | empty)


def weights(probabilities, empty):
    """set the weights of queries without visible keys to 0 → the weights"""
    return probabilities if empty is None else probabilities.masked_fill(empty, 0.0)


STEPS = InSteps(
    from_queries,
    from_keys,
    from_values,
    split,
    n_repeats,
    repeated,
    queries,
    keys,
    values,
    *SCALED,
    visible,
    empty,
    hidden,
    fill,
    scores,
    probabilities,
    weights,
    mixture,
    merged,
    output,
    reference=GroupedQueryAttention,
)
