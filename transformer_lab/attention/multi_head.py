"""Multi-head attention: several attentions side by side, each on its own projections of all of the input."""

from collections.abc import Callable

from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab.attention.dot_product import attend, scaled_dot_product_attention
from transformer_lab.attention.kv_cache import KVCache, SourceKV, group_beams, ungroup_beams
from transformer_lab.checks import check_width


def split_heads(x: Float[Tensor, "batch n d_model"], n_heads: int) -> Float[Tensor, "batch {n_heads} n d_k"]:
    """Give each head its slice of the features: head i owns columns i d_k to (i + 1) d_k − 1."""
    batch, n, d_model = x.shape
    return x.reshape(batch, n, n_heads, d_model // n_heads).transpose(1, 2)


def merge_heads(x: Float[Tensor, "batch n_heads n d_k"]) -> Float[Tensor, "batch n d_model"]:
    """Put the heads' features side by side again: the inverse of ``split_heads``."""
    return x.transpose(1, 2).flatten(start_dim=2)


class AttentionBase(nn.Module):
    """What all attention modules share: mixing the values in every head, and showing the weights when asked to.

    Args:
        d_model: Width of the input and output.
        n_heads: How many heads.
        dropout: Share of the attention weights that training drops. The paper drops none.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model``, or ``dropout`` is no share.
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float) -> None:
        super().__init__()
        if min(n_heads, d_model) < 1 or d_model % n_heads:
            raise ValueError(f"n_heads must divide d_model; got d_model={d_model}, n_heads={n_heads}")
        if not 0.0 <= dropout <= 1.0:
            raise ValueError(f"dropout must be from 0 to 1; got {dropout=}")
        self.d_model = d_model
        self.n_heads = n_heads
        self.dropout = dropout
        self.weights_hook: Callable[[Tensor], None] | None = None  # ``record_attention`` listens here

    def attend_heads(
        self,
        q: Float[Tensor, "rows n_heads n_query d_k"],
        k: Float[Tensor, "batch n_heads n_key d_k"],
        v: Float[Tensor, "batch n_heads n_key d_k"],
        mask: Bool[Tensor, "*#batch_and_heads #n_query #n_key"] | None,
        bias: Float[Tensor, "*#batch_and_heads #n_query #n_key"] | None = None,
    ) -> Float[Tensor, "rows n_heads n_query d_k"]:
        """Attend in all the heads; through the fused kernels, unless somebody wants to see the weights.

        Several rows of queries in turn may share the keys and values of one, as the beams of a search share a source.
        """
        if len(q) > len(k):
            if mask is not None:
                mask = group_beams(mask.expand(len(q), -1, q.shape[2], -1), len(k))
            return ungroup_beams(self.attend_heads(group_beams(q, len(k)), k, v, mask), len(q))
        dropout = self.dropout if self.training else 0.0
        if self.weights_hook is None:
            return attend(q, k, v, mask, bias, dropout)
        output, weights = scaled_dot_product_attention(q, k, v, mask, bias, dropout)
        self.weights_hook(weights)
        return output


class MultiHeadAttention(AttentionBase):
    """Let every query attend in several ways at once, each head comparing other features.

    ``w_o(concat(head_1 … head_h))``, where head i is the attention of its slices of ``w_q(query)``, ``w_k(key)`` and
    ``w_v(value)``: section 3.2.2 of Vaswani et al. (2017), arXiv:1706.03762. Every head sees all of the input; what
    is sliced are the projections.

    Args:
        d_model: Width of all inputs and of the output.
        n_heads: How many heads.
        dropout: Share of the attention weights that training drops. The paper drops none.

    Raises:
        ValueError: ``n_heads`` does not divide ``d_model``.

    >>> import torch
    >>> attention = MultiHeadAttention(d_model=8, n_heads=2)
    >>> x, memory = torch.randn(3, 5, 8), torch.randn(3, 7, 8)
    >>> attention(x, memory, memory).shape
    torch.Size([3, 5, 8])
    """

    def __init__(self, d_model: int, n_heads: int, dropout: float = 0.0) -> None:
        super().__init__(d_model, n_heads, dropout)
        self.w_q = nn.Linear(d_model, d_model)
        self.w_k = nn.Linear(d_model, d_model)
        self.w_v = nn.Linear(d_model, d_model)
        self.w_o = nn.Linear(d_model, d_model)

    def forward(
        self,
        query: Float[Tensor, "batch n_query d_model"],
        key: Float[Tensor, "batch n_key d_model"],
        value: Float[Tensor, "batch n_key d_model"],
        mask: Bool[Tensor, "*#batch_and_heads #n_query #n_all_keys"] | None = None,
        cache: KVCache | SourceKV | None = None,
    ) -> Float[Tensor, "batch n_query d_model"]:
        """Look every query up among the keys.

        Args:
            query: What asks: the sequence itself, or in cross-attention the decoder's.
            key: What is asked: the sequence itself, or in cross-attention the encoder's output.
            value: What is handed over; nearly always the same tensor as ``key``.
            mask: True where a query may look at a key; it may differ between sentences and heads.
            cache: Keeps projected keys and values: those of earlier calls are looked at as well.

        Raises:
            ValueError: An input is not ``d_model`` wide, there are more or fewer keys than values, or they are of more
                or fewer sentences than the queries.
        """
        check_width("d_model", self.d_model, query=query, key=key, value=value)
        if len(query) != len(key):
            raise ValueError(f"queries and keys must be of as many sentences; got {len(query)} and {len(key)}")

        def project() -> tuple[Tensor, Tensor]:
            return split_heads(self.w_k(key), self.n_heads), split_heads(self.w_v(value), self.n_heads)

        q = split_heads(self.w_q(query), self.n_heads)  # (batch, n_heads, n_query, d_k)
        k, v = project() if cache is None else cache(project)
        return self.w_o(merge_heads(self.attend_heads(q, k, v, mask)))
