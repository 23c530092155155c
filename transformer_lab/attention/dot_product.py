"""Attention by dot products: a lookup in which every key answers, as loudly as it matches.

``soft_lookup`` is the idea, ``scaled_dot_product_attention`` the thing itself with the weights to look at, and
``attend`` the same without the weights, as fast as torch can.
"""

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn import functional as F


def soft_lookup(
    query: Float[Tensor, " d"], keys: Float[Tensor, "n d"], values: Float[Tensor, "n d_v"]
) -> Float[Tensor, " d_v"]:
    """Mix the values, each by how well its key matches the query.

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
    """Mix the values, each query weighting them by how well it matches the keys.

    ``softmax(q kᵀ / √d_k) v``: equation 1 of Vaswani et al. (2017), arXiv:1706.03762.

    Args:
        q: What each position is looking for.
        k: What each position offers to be matched on.
        v: What each position hands over when matched.
        mask: True where a query may look at a key, as in
            ``torch.nn.functional.scaled_dot_product_attention``; the boolean masks of
            ``torch.nn.MultiheadAttention`` mean the opposite. None hides nothing.
        bias: Added to the scores, as for positions that lower them with distance.
        dropout: Share of the weights that is dropped at random, the rest being raised to make up for it.

    Returns:
        The mixed values, and the weights that mixed them. Each row of weights sums to 1 (before dropout),
        or is all 0 if the mask leaves that query no key.

    >>> q, k, v = torch.zeros(1, 2), torch.ones(2, 2), torch.tensor([[1.0], [3.0]])
    >>> scaled_dot_product_attention(q, k, v)
    (tensor([[2.]]), tensor([[0.5000, 0.5000]]))
    """
    scores = (q / k.shape[-1] ** 0.5) @ k.transpose(-2, -1)
    if bias is not None:
        scores = scores + bias
    weights = F.dropout(masked_softmax(scores, mask), dropout)
    return weights @ v, weights


def attend(
    q: Float[Tensor, "*batch n_query d_k"],
    k: Float[Tensor, "*batch n_key d_k"],
    v: Float[Tensor, "*batch n_key d_v"],
    mask: Bool[Tensor, "*#batch #n_query #n_key"] | None = None,
    bias: Float[Tensor, "*#batch #n_query #n_key"] | None = None,
    dropout: float = 0.0,
) -> Float[Tensor, "*batch n_query d_v"]:
    """Give the output of ``scaled_dot_product_attention`` through torch's fused kernels, which keep no weights.

    Their memory grows with queries plus keys, not with queries times keys. On a CPU, torch has them for four axes
    (batch, heads, position, width) with d_v = d_k; elsewhere it falls back on the plain formula. Arguments and edge
    cases are those of ``scaled_dot_product_attention``.

    Raises:
        ValueError: There are more or fewer keys than values; some kernels would read past the end of the shorter.

    >>> attend(torch.zeros(1, 2), torch.ones(2, 2), torch.tensor([[1.0], [3.0]]))
    tensor([[2.]])
    """
    if k.shape[-2] != v.shape[-2]:
        raise ValueError(f"every key needs a value; got {k.shape[-2]} keys, {v.shape[-2]} values")
    if mask is None:
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias, dropout_p=dropout)
    fully_masked = ~mask.any(dim=-1, keepdim=True)
    # Some kernels give nan for a fully hidden row (pytorch/pytorch#156707), so none is ever handed over.
    allowed = mask | fully_masked
    bias_or_mask = allowed if bias is None else torch.where(allowed, bias, -torch.inf)
    output = F.scaled_dot_product_attention(q, k, v, attn_mask=bias_or_mask, dropout_p=dropout)
    return output.masked_fill(fully_masked, 0.0)


def masked_softmax(
    scores: Float[Tensor, "*batch n_query n_key"], mask: Bool[Tensor, "*#batch #n_query #n_key"] | None
) -> Float[Tensor, "*batch n_query n_key"]:
    """Spread each query's attention over the keys it may see; a query that may see none attends to nothing.

    Args:
        scores: How well each key matches each query.
        mask: True where a query may look at a key. None hides nothing.

    >>> masked_softmax(torch.zeros(2, 3), torch.tensor([[True, True, False], [False, False, False]]))
    tensor([[0.5000, 0.5000, 0.0000],
            [0.0000, 0.0000, 0.0000]])
    """
    if mask is None:
        return torch.softmax(scores, dim=-1)
    fully_masked = ~mask.any(dim=-1, keepdim=True)
    # The softmax of a row of -inf is nan, and so is its gradient. Such rows are let through here, and zeroed below.
    weights = torch.softmax(scores.masked_fill(~(mask | fully_masked), -torch.inf), dim=-1)
    return weights.masked_fill(fully_masked, 0.0)
