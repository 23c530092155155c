"""Dot-product attention, with and without returning the weights.

``soft_lookup`` shows the idea, ``scaled_dot_product_attention`` computes the formula and returns the weights, and
``attend`` computes the same output without the weights, using torch's fused kernels.
"""

from functools import partial

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F

from transformer_lab.checks import check_attention


def soft_lookup(
    query: Float[Tensor, " d"], keys: Float[Tensor, "n d"], values: Float[Tensor, "n d_v"]
) -> Float[Tensor, " d_v"]:
    """Average the values, weighted by how well each key matches the query.

    ``softmax(K q) V``: the dot score of Luong et al. (2015), arXiv:1508.04025, for one query.
    """
    scores = keys @ query
    weights = torch.softmax(scores, dim=0)
    return weights @ values


def scaled_dot_product_attention(
    q: Float[Tensor, "*batch n_query d_k"],
    k: Float[Tensor, "*batch n_key d_k"],
    v: Float[Tensor, "*batch n_key d_v"],
    mask: Bool[Tensor, "*#batch #n_query #n_key"] | None = None,
    bias: Float[Tensor, "*#batch #n_query #n_key"] | None = None,
    dropout: float = 0.0,
) -> tuple[Float[Tensor, "*batch n_query d_v"], Float[Tensor, "*batch n_query n_key"]]:
    """For each query, average the values, weighted by how well each key matches the query.

    ``softmax(q kᵀ / √d_k) v``: equation 1 of Vaswani et al. (2017), arXiv:1706.03762.

    Args:
        q: Queries: what each position is looking for.
        k: Keys: what each position offers to be matched on.
        v: Values: what each position contributes when matched.
        mask: True where a query may attend to a key, as in ``torch.nn.functional.scaled_dot_product_attention``; the
            boolean masks of ``torch.nn.MultiheadAttention`` mean the opposite. None allows everything.
        bias: Added to the scores, for example to lower them with distance; −∞ masks out a key.
        dropout: Dropout probability of the weights.

    Returns:
        The averaged values, and the weights. Each row sums to 1 before dropout, or to 0 if every key is masked.

    Raises:
        ValueError: The shapes, dtypes or devices of the inputs do not match, or the mask is not boolean.
        TypeError: An input is not a tensor.

    >>> q, k, v = torch.zeros(1, 2), torch.ones(2, 2), torch.tensor([[1.0], [3.0]])
    >>> scaled_dot_product_attention(q, k, v)
    (tensor([[2.]]), tensor([[0.5000, 0.5000]]))
    """
    check_attention(q, k, v, mask, bias)
    scores = (q / k.shape[-1] ** 0.5) @ k.transpose(-2, -1)
    if bias is not None:
        mask, bias = hide_by_mask(mask, bias)
        scores = scores + bias
    weights = F.dropout(masked_softmax(scores, mask), dropout)
    return weights.to(v.dtype) @ v, weights


def attend(
    q: Float[Tensor, "*batch n_query d_k"],
    k: Float[Tensor, "*kv_batch n_key d_k"],
    v: Float[Tensor, "*kv_batch n_key d_v"],
    mask: Bool[Tensor, "*#batch #n_query #n_key"] | None = None,
    bias: Float[Tensor, "*#batch #n_query #n_key"] | None = None,
    dropout: float = 0.0,
    is_causal: bool = False,
) -> Float[Tensor, "*batch n_query d_v"]:
    """Return the output of ``scaled_dot_product_attention`` without the weights, using torch's fused kernels.

    Fused kernels need memory proportional to the number of queries plus the number of keys, not to their product. On a
    CPU, torch has fused kernels only for inputs with four dimensions (batch, heads, position, width) and d_v = d_k; for
    all other inputs, it falls back to the plain formula. With four dimensions, keys and values may have fewer heads
    than the queries; each key/value head then serves a group of query heads.

    Args:
        q: Queries.
        k: Keys.
        v: Values.
        mask: True where a query may attend to a key. None allows everything.
        bias: Added to the scores; −∞ masks out a key.
        dropout: Dropout probability of the weights.
        is_causal: Whether each query attends only to keys up to its own position; faster than ``causal_mask``.

    Raises:
        ValueError: The shapes, dtypes or devices of the inputs do not match (some kernels would read past the end of
            the shorter tensor), the mask is not boolean, or ``is_causal`` is combined with a mask, with a bias, or with
            different numbers of queries and keys.
        TypeError: An input is not a tensor.

    >>> attend(torch.zeros(1, 2), torch.ones(2, 2), torch.tensor([[1.0], [3.0]]))
    tensor([[2.]])
    """
    check_attention(q, k, v, mask, bias, in_groups=True)
    if is_causal:
        check_causal(q.shape[-2], k.shape[-2], mask, bias)
    grouped = q.shape[:-2] != k.shape[:-2]
    sdpa = partial(F.scaled_dot_product_attention, q, k, v, dropout_p=dropout, enable_gqa=grouped)
    if bias is not None:
        mask, bias = hide_by_mask(mask, bias)
    if mask is None:
        return sdpa(attn_mask=None, is_causal=is_causal)
    fully_masked = fully_masked_queries(mask)
    # Some kernels return NaN for a fully masked row (pytorch/pytorch#156707), so unmask such rows and zero the output.
    allowed = mask | fully_masked
    attn_mask = allowed if bias is None else torch.where(allowed, bias, -torch.inf)
    return sdpa(attn_mask=attn_mask).masked_fill(fully_masked, 0.0)


def check_causal(n_query: int, n_key: int, mask: Tensor | None, bias: Tensor | None) -> None:
    """Raise ValueError unless ``is_causal`` can be combined with these arguments of ``attend``."""
    if not (mask is None and bias is None and n_query == n_key):
        given = f"mask={mask is not None}, bias={bias is not None}, {n_query=}, {n_key=}"
        raise ValueError(f"is_causal requires equal numbers of queries and keys, no mask and no bias; got {given}")


def hide_by_mask(
    mask: Bool[Tensor, "*#batch #n_query #n_key"] | None, bias: Float[Tensor, "*#batch #n_query #n_key"]
) -> tuple[Bool[Tensor, "*#batch #n_query #n_key"], Float[Tensor, "*#batch #n_query #n_key"]]:
    """Move the −∞ entries of the bias into the mask; return the new mask and bias.

    If these entries stayed in the bias, a row of −∞ would make the softmax and all gradients NaN.
    """
    hidden = bias == -torch.inf
    return ~hidden if mask is None else mask & ~hidden, bias.masked_fill(hidden, 0.0)


def masked_softmax(
    scores: Float[Tensor, "*batch n_query n_key"], mask: Bool[Tensor, "*#batch #n_query #n_key"] | None
) -> Float[Tensor, "*batch n_query n_key"]:
    """Return the softmax over the keys that each query may attend to, or zeros if it cannot attend to any key.

    Args:
        scores: How well each key matches each query.
        mask: True where a query may attend to a key. None allows everything.

    Raises:
        ValueError: The mask is not boolean.

    >>> masked_softmax(torch.zeros(2, 3), torch.tensor([[True, True, False], [False, False, False]]))
    tensor([[0.5000, 0.5000, 0.0000],
            [0.0000, 0.0000, 0.0000]])
    """
    if mask is None:
        return torch.softmax(scores, dim=-1)
    fully_masked = fully_masked_queries(mask)
    # The softmax of a row of −∞ and its gradient are NaN, so leave such rows unmasked and zero the weights below.
    weights = torch.softmax(scores.masked_fill(~(mask | fully_masked), -torch.inf), dim=-1)
    return weights.masked_fill(fully_masked, 0.0)


def fully_masked_queries(mask: Bool[Tensor, "*batch n_query n_key"]) -> Bool[Tensor, "*batch n_query 1"]:
    """Return True for each query that cannot attend to any key; raise ValueError if the mask is not boolean."""
    if mask.dtype != torch.bool:
        raise ValueError(f"the mask must be boolean (True where attention is allowed); got {mask.dtype}")
    return ~mask.any(dim=-1, keepdim=True)
