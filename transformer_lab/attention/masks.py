"""Attention masks. Throughout this library, True marks a key that a query may attend to.

This is the convention of ``torch.nn.functional.scaled_dot_product_attention``; the boolean masks of
``torch.nn.MultiheadAttention`` mean the opposite.
"""

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from transformer_lab.checks import check_integer, check_positive, check_token_ids


def padding_mask(tokens: Int[Tensor, "batch n"], pad_id: int) -> Bool[Tensor, "batch 1 1 n"]:
    """Return a mask that is True at real tokens.

    The dimensions of size 1 broadcast over all heads and all queries.

    Raises:
        ValueError: ``tokens`` is not an integer tensor of shape (batch, n).
        TypeError: ``tokens`` is not a tensor.

    >>> padding_mask(torch.tensor([[7, 8, 0]]), pad_id=0)
    tensor([[[[ True,  True, False]]]])
    """
    check_token_ids(tokens)
    return (tokens != pad_id)[..., None, None, :]


def causal_mask(
    n_query: int, n_key: int | None = None, device: torch.device | str | None = None
) -> Bool[Tensor, "n_query n_key"]:
    """Return a mask that is True, for each query, at its own position and all earlier positions.

    Args:
        n_query: Number of queries.
        n_key: Number of keys; None means ``n_query``. If there are more keys than queries, as with a cache of past
            keys, the *last* query is aligned with the last key.
        device: Device of the mask.

    Raises:
        ValueError: A length is negative or not an integer, or there are fewer keys than queries, so that the first
            query could attend to nothing.

    >>> causal_mask(3)
    tensor([[ True, False, False],
            [ True,  True, False],
            [ True,  True,  True]])
    >>> causal_mask(1, 3)
    tensor([[True, True, True]])
    """
    n_key = n_query if n_key is None else n_key
    check_integer(n_query=n_query, n_key=n_key)
    if not 0 <= n_query <= n_key:
        raise ValueError(f"a causal mask requires 0 ≤ n_query ≤ n_key; got n_query={n_query}, n_key={n_key}")
    return torch.ones(n_query, n_key, dtype=torch.bool, device=device).tril(n_key - n_query)


def mask_of_heads(mask: Tensor, n_sentences: int, n_heads: int) -> Tensor:
    """Add the missing batch or head dimension if a mask or bias has only three dimensions.

    Args:
        mask: A tensor of shape (n_query, n_key) for all sentences and heads, (batch, n_query, n_key) for all heads,
            (n_heads, n_query, n_key) for all sentences, or (batch, n_heads, n_query, n_key). Size 1 broadcasts.
        n_sentences: Number of sentences.
        n_heads: Number of heads.

    Raises:
        ValueError: The number of dimensions is wrong, or the first of three dimensions matches both the batch size and
            the number of heads, or neither.

    >>> mask_of_heads(torch.ones(3, 5, 5), n_sentences=3, n_heads=2).shape
    torch.Size([3, 1, 5, 5])
    """
    shape = tuple(mask.shape)
    if mask.dim() not in (2, 3, 4):
        shapes = (
            "(n_query, n_key), (batch, n_query, n_key), (n_heads, n_query, n_key) or (batch, n_heads, n_query, n_key)"
        )
        raise ValueError(f"a mask must have shape {shapes}; got shape {shape}")
    if mask.dim() != 3:
        return mask
    fits_batch, fits_heads = mask.shape[0] == n_sentences, mask.shape[0] == n_heads
    if mask.shape[0] != 1 and fits_batch == fits_heads:
        raise ValueError(
            "the first of a mask's three dimensions must match either the batch size or n_heads, but not both; "
            f"add a dimension with mask[:, None] or mask[None]; got {n_sentences} sentences, {n_heads} heads "
            f"and a mask of shape {shape}"
        )
    return mask[None] if fits_heads else mask[:, None]


def sliding_window_mask(
    query_positions: Int[Tensor, "*batch n_query"], key_positions: Int[Tensor, "*batch n_key"], window: int
) -> Bool[Tensor, "*batch n_query n_key"]:
    """Return a mask that is True, for each query, at its own position and the ``window`` − 1 positions before.

    Section 3.1 of Beltagy et al. (2020), arXiv:2004.05150, for a decoder. The number of keys per query no longer grows
    with the length of the text. Each layer carries information another ``window`` − 1 positions further.

    Args:
        query_positions: Position of each query.
        key_positions: Position of each key. Padding has no position and needs a separate mask.
        window: Number of positions that a query may attend to, including its own.

    Raises:
        ValueError: The window is not positive, so that a query could attend to nothing.

    >>> sliding_window_mask(torch.arange(4), torch.arange(4), window=2)
    tensor([[ True, False, False, False],
            [ True,  True, False, False],
            [False,  True,  True, False],
            [False, False,  True,  True]])
    """
    check_positive(window=window)
    distance = query_positions[..., :, None] - key_positions[..., None, :]
    return (distance >= 0) & (distance < window)


def decoder_mask(
    tokens: Int[Tensor, "batch n"], pad_id: int, n_query: int | None = None
) -> Bool[Tensor, "batch 1 n_query n"]:
    """Return a decoder's self-attention mask, which is True at the real tokens up to each query's position.

    Args:
        tokens: The token ids of the keys.
        pad_id: The token that pads short sentences.
        n_query: Number of queries: the last tokens of each row. None means all tokens.

    Raises:
        ValueError: ``tokens`` is not an integer tensor of shape (batch, n), or has fewer tokens than ``n_query``.
        TypeError: ``tokens`` is not a tensor.

    >>> decoder_mask(torch.tensor([[7, 8, 0]]), pad_id=0)
    tensor([[[[ True, False, False],
              [ True,  True, False],
              [ True,  True, False]]]])
    """
    check_token_ids(tokens)
    n_key = tokens.shape[-1]
    return padding_mask(tokens, pad_id) & causal_mask(n_key if n_query is None else n_query, n_key, tokens.device)
