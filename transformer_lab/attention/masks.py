"""Masks: which keys each query may attend to. True means that it may, everywhere in this library.

That is the convention of ``torch.nn.functional.scaled_dot_product_attention``; the boolean masks of
``torch.nn.MultiheadAttention`` mean the opposite.
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor


def padding_mask(tokens: Int[Tensor, "batch n"], pad_id: int) -> Bool[Tensor, "batch 1 1 n"]:
    """Return a mask that is True at real tokens.

    The axes of length 1 stand for all heads and all queries.

    >>> padding_mask(torch.tensor([[7, 8, 0]]), pad_id=0)
    tensor([[[[ True,  True, False]]]])
    """
    return (tokens != pad_id)[..., None, None, :]


def causal_mask(
    n_query: int, n_key: int | None = None, device: torch.device | str | None = None
) -> Bool[Tensor, "n_query n_key"]:
    """Return a mask that is True at each position and those before it.

    Args:
        n_query: Number of queries.
        n_key: Number of keys; None means ``n_query``. Where there are more, as with a cache of past keys, the *last*
            query is aligned with the last key.
        device: Device of the mask.

    Raises:
        ValueError: A length is negative, or there are fewer keys than queries: the first could attend to nothing.

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
    """Return a mask that is True at the real tokens up to each position: that of a decoder's self-attention.

    Args:
        tokens: The tokens of the keys.
        pad_id: The token that pads short sentences.
        n_query: Number of queries, which are the last tokens; None means all.

    >>> decoder_mask(torch.tensor([[7, 8, 0]]), pad_id=0)
    tensor([[[[ True, False, False],
              [ True,  True, False],
              [ True,  True, False]]]])
    """
    n_key = tokens.shape[-1]
    return padding_mask(tokens, pad_id) & causal_mask(n_key if n_query is None else n_query, n_key, tokens.device)
