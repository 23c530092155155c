"""Masks: who may look at whom. True means may look, everywhere in this library.

That is the convention of ``torch.nn.functional.scaled_dot_product_attention``; the boolean masks of
``torch.nn.MultiheadAttention`` mean the opposite.
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def padding_mask(tokens: Int[Tensor, "batch n"], pad_id: int) -> Bool[Tensor, "batch 1 1 n"]:
    """Let everybody look at the real tokens and nobody at the padding.

    The axes of length 1 stand for all heads and all queries.

    >>> padding_mask(torch.tensor([[7, 8, 0]]), pad_id=0)
    tensor([[[[ True,  True, False]]]])
    """
    return (tokens != pad_id)[..., None, None, :]


def causal_mask(
    n_query: int, n_key: int | None = None, device: torch.device | str | None = None
) -> Bool[Tensor, "n_query n_key"]:
    """Let every position look at itself and at what came before.

    Args:
        n_query: How many queries there are.
        n_key: How many keys; as many as queries if None. Where there are more, as with a cache of past keys, the
            *last* query is aligned with the last key.
        device: Where the mask is made.

    Raises:
        ValueError: A length is negative, or there are fewer keys than queries: the first queries would see nothing.

    >>> causal_mask(3)
    tensor([[ True, False, False],
            [ True,  True, False],
            [ True,  True,  True]])
    >>> causal_mask(1, 3)
    tensor([[True, True, True]])
    """
    n_key = n_query if n_key is None else n_key
    if not 0 <= n_query <= n_key:
        raise ValueError(f"a causal mask needs 0 ≤ n_query ≤ n_key; got n_query={n_query}, n_key={n_key}")
    return torch.ones(n_query, n_key, dtype=torch.bool, device=device).tril(n_key - n_query)


def decoder_mask(
    tokens: Int[Tensor, "batch n"], pad_id: int, n_query: int | None = None
) -> Bool[Tensor, "batch 1 n_query n"]:
    """Let every position look at the real tokens up to itself: the mask of a decoder's self-attention.

    Args:
        tokens: All tokens that may be looked at.
        pad_id: The one that is no token, but fills short sentences up.
        n_query: How many of the tokens, at the end, do the looking; all if None.

    >>> decoder_mask(torch.tensor([[7, 8, 0]]), pad_id=0)
    tensor([[[[ True, False, False],
              [ True,  True, False],
              [ True,  True, False]]]])
    """
    n_key = tokens.shape[-1]
    return padding_mask(tokens, pad_id) & causal_mask(n_key if n_query is None else n_query, n_key, tokens.device)
