"""Additive attention, the first form of attention: a small network computes the scores."""

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from transformer_lab.attention.dot_product import masked_softmax
from transformer_lab.checks import check_attention, check_width


def additive_scores(
    queries: Float[Tensor, "batch n_query d_q"],
    keys: Float[Tensor, "batch n_key d_k"],
    w_q: Float[Tensor, "d_h d_q"],
    w_k: Float[Tensor, "d_h d_k"],
    w: Float[Tensor, " d_h"],
) -> Float[Tensor, "batch n_query n_key"]:
    """Score every key for every query with a small network.

    ``w · tanh(W_q q + W_k k)``: appendix A.1.2 of Bahdanau et al. (2015), arXiv:1409.0473.
    """
    from_queries = (queries @ w_q.transpose(0, 1)).unsqueeze(-2)  # (batch, n_query, 1, d_h)
    from_keys = (keys @ w_k.transpose(0, 1)).unsqueeze(-3)  # (batch, 1, n_key, d_h)
    return torch.tanh(from_queries + from_keys) @ w


class AdditiveAttention(nn.Module):
    """Average the values, weighted by a small network's score for each pair of query and key.

    ``softmax(w · tanh(W_q q + W_k k)) v``: appendix A.1.2 of Bahdanau et al. (2015), arXiv:1409.0473. Additive
    attention has ``d_h (d_q + d_k + 1)`` parameters and stores d_h numbers for each pair of query and key. Dot-product
    attention has no parameters and stores one number for each pair.

    Args:
        d_q: Width of the queries.
        d_k: Width of the keys, which may differ from ``d_q``.
        d_h: Width of the hidden layer.

    Raises:
        ValueError: A width is not positive.

    >>> attention = AdditiveAttention(d_q=3, d_k=5, d_h=7)
    >>> output, weights = attention(torch.randn(2, 11, 3), torch.randn(2, 13, 5), torch.randn(2, 13, 17))
    >>> output.shape, weights.shape
    (torch.Size([2, 11, 17]), torch.Size([2, 11, 13]))
    """

    def __init__(self, d_q: int, d_k: int, d_h: int) -> None:
        super().__init__()
        if min(d_q, d_k, d_h) < 1:
            raise ValueError(f"widths must be positive; got d_q={d_q}, d_k={d_k}, d_h={d_h}")
        self.w_q = nn.Linear(d_q, d_h, bias=False)
        self.w_k = nn.Linear(d_k, d_h, bias=False)
        self.w = nn.Linear(d_h, 1, bias=False)

    def forward(
        self,
        queries: Float[Tensor, "batch n_query d_q"],
        keys: Float[Tensor, "batch n_key d_k"],
        values: Float[Tensor, "batch n_key d_v"],
        mask: Bool[Tensor, "#batch #n_query #n_key"] | None = None,
    ) -> tuple[Float[Tensor, "batch n_query d_v"], Float[Tensor, "batch n_query n_key"]]:
        """Return the averaged values and the weights, with the mask applied as in ``scaled_dot_product_attention``.

        Raises:
            ValueError: The queries do not have width ``d_q``, the keys do not have width ``d_k``, the shapes, dtypes or
                devices of the inputs do not match, or the mask is not boolean.
            TypeError: An input is not a tensor.
        """
        check_width("d_q", self.w_q.in_features, self.w_q, queries=queries)
        check_width("d_k", self.w_k.in_features, self.w_k, keys=keys)
        check_attention(queries, keys, values, mask, same_width=False)
        scores = additive_scores(queries, keys, self.w_q.weight, self.w_k.weight, self.w.weight[0])
        weights = masked_softmax(scores, mask)
        return weights @ values, weights
