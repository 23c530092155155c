"""Argument checks that always run; each raises a ValueError that contains the values."""

import math
from collections.abc import Collection
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin

import torch
from torch import Tensor, nn


def check_width(name: str, width: int, layer: nn.Module | None = None, /, **inputs: Tensor) -> None:
    """Raise ValueError unless every input consists of floating-point vectors of this width.

    Args:
        name: Name of the width in the message.
        width: Required size of the last dimension.
        layer: The layer that reads the inputs. If given, its weight has the required dtype and device.
        **inputs: The inputs, keyed by their names in the message.

    Raises:
        TypeError: An input is not a tensor.

    >>> check_width("d_model", 8, x=torch.zeros(2, 3, 7))
    Traceback (most recent call last):
        ...
    ValueError: the last dimension of x must be d_model=8; got shape (2, 3, 7)
    """
    for given, x in inputs.items():
        check_tensor(given, x)
        if x.shape[-1:] != (width,):
            raise ValueError(f"the last dimension of {given} must be {name}={width}; got shape {tuple(x.shape)}")
        _check_kind(layer, given, x)


def check_sequences(d_model: int, layer: nn.Module | None = None, /, **inputs: Tensor) -> None:
    """Raise ValueError unless every input is a batch of sequences of vectors of width ``d_model``; see ``check_width``.

    >>> check_sequences(8, x=torch.zeros(3, 8))
    Traceback (most recent call last):
        ...
    ValueError: x must have shape (batch, n, d_model=8); got shape (3, 8)
    """
    checked = None
    for given, x in inputs.items():
        if x is checked:  # in self-attention, all inputs are the same tensor
            continue
        check_tensor(given, x)
        if x.dim() != 3 or x.shape[-1] != d_model:
            raise ValueError(f"{given} must have shape (batch, n, {d_model=}); got shape {tuple(x.shape)}")
        _check_kind(layer, given, x)
        checked = x


def _check_kind(layer: nn.Module | None, given: str, x: Tensor) -> None:
    """Raise ValueError unless x is floating-point and matches the dtype and device of the layer's weight, if any.

    The dtype may differ under autocast, which converts the inputs, and for quantized weights.
    """
    if not x.is_floating_point():
        raise ValueError(f"{given} must be floating-point; got {x.dtype}")
    weight = None if layer is None else layer._parameters.get("weight")
    if weight is None or not weight.is_floating_point():
        return
    if x.device != weight.device:
        raise ValueError(f"{given} must be on the same device as the parameters ({weight.device}); got {x.device}")
    if x.dtype != weight.dtype and not torch.is_autocast_enabled(x.device.type):
        raise ValueError(f"{given} must have the same dtype as the parameters ({weight.dtype}); got {x.dtype}")


def check_tensor(name: str, x: object) -> None:
    """Raise TypeError unless x is a tensor.

    >>> check_tensor("tokens", [1, 2])
    Traceback (most recent call last):
        ...
    TypeError: tokens must be a tensor; got list
    """
    if not isinstance(x, Tensor):
        raise TypeError(f"{name} must be a tensor; got {type(x).__name__}")


def check_has_data(x: Tensor) -> None:
    """Raise ValueError if a model's output x is on the meta device, because decoding needs actual numbers."""
    if x.is_meta:
        raise ValueError("decoding requires a model with data, but this model is on the meta device; load parameters")


def check_attention(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    mask: Tensor | None,
    bias: Tensor | None = None,
    *,
    in_groups: bool = False,
    same_width: bool = True,
) -> None:
    """Raise ValueError unless the shapes of queries, keys, values, mask and bias match.

    Args:
        q: Queries, of shape (…, n_query, d_k).
        k: Keys, of shape (…, n_key, d_k).
        v: Values, of shape (…, n_key, d_v).
        mask: True where a query may attend to a key, or None.
        bias: Added to the scores, or None.
        in_groups: Whether a key/value head may serve a group of query heads.
        same_width: Whether queries and keys must have the same width, as for a dot product.

    Raises:
        TypeError: An input is not a tensor.

    >>> q, k, v = torch.zeros(2, 5, 4), torch.zeros(2, 7, 4), torch.zeros(2, 6, 4)
    >>> check_attention(q, k, v, mask=None)
    Traceback (most recent call last):
        ...
    ValueError: the numbers of keys and values must be equal; got 7 keys, 6 values
    """
    for name, x in (("queries", q), ("keys", k), ("values", v)):
        check_tensor(name, x)
        if x.dim() < 2 or not x.is_floating_point():
            raise ValueError(f"{name} must be float tensors of shape (…, n, d); got {x.dtype}, {tuple(x.shape)}")
    (*q_batch, _, q_width), (*k_batch, n_key, k_width), (*v_batch, n_value, _) = q.shape, k.shape, v.shape
    if n_key != n_value:
        raise ValueError(f"the numbers of keys and values must be equal; got {n_key} keys, {n_value} values")
    problem = None
    if same_width and q_width != k_width:
        problem = "queries and keys must have the same width"
    elif k_batch != v_batch:
        problem = "keys and values must have the same leading dimensions"
    elif q_batch != k_batch and not in_groups:
        problem = "queries and keys must have the same leading dimensions"
    elif q_batch != k_batch and not _serves_groups(q_batch, k_batch):
        problem = "queries and keys must have the same leading dimensions, or n_kv_heads must divide n_heads"
    if problem is not None:
        shapes = zip(("queries", "keys", "values"), (q, k, v), strict=True)
        raise ValueError(f"{problem}; got {', '.join(f'{name} of shape {tuple(x.shape)}' for name, x in shapes)}")
    if not q.device == k.device == v.device:
        raise ValueError(f"queries, keys and values must be on the same device; got {q.device}, {k.device}, {v.device}")
    if not q.dtype == k.dtype == v.dtype and not torch.is_autocast_enabled(q.device.type):
        raise ValueError(f"queries, keys and values must have the same dtype; got {q.dtype}, {k.dtype}, {v.dtype}")
    check_mask(mask, q, n_key)
    check_mask(bias, q, n_key)
    if bias is not None and bias.dtype not in (q.dtype, torch.float32):
        raise ValueError(f"the bias must have the same dtype as the queries ({q.dtype}) or float32; got {bias.dtype}")


def _serves_groups(q_batch: list[int], k_batch: list[int]) -> bool:
    """Return whether each key/value head serves the same number of query heads, given the batch and head dimensions."""
    if not len(q_batch) == len(k_batch) == 2:
        return False
    (n_queries, q_heads), (n_keys, k_heads) = q_batch, k_batch
    return n_queries == n_keys and k_heads > 0 and q_heads % k_heads == 0


def check_mask(mask: Tensor | None, q: Tensor, n_key: int) -> None:
    """Raise ValueError unless a mask or bias is None or broadcastable to the scores for ``n_key`` keys.

    >>> check_mask(torch.ones(5, 6), torch.zeros(2, 5, 4), n_key=7)
    Traceback (most recent call last):
        ...
    ValueError: the mask must be broadcastable to the shape of the scores, (2, 5, 7); got shape (5, 6)
    """
    if mask is None:
        return
    check_tensor("mask", mask)
    scores = (*q.shape[:-1], n_key)
    fits = mask.dim() <= len(scores)
    for n, n_scores in zip(reversed(mask.shape), reversed(scores), strict=False):
        fits = fits and (n == 1 or n == n_scores)
    if not fits:
        shape = tuple(mask.shape)
        raise ValueError(f"the mask must be broadcastable to the shape of the scores, {scores}; got shape {shape}")
    if mask.device != q.device:
        raise ValueError(f"the mask must be on the same device as the queries ({q.device}); got {mask.device}")


def check_token_ids(tokens: Tensor) -> None:
    """Raise an error unless the tokens are an int64 tensor of shape (batch, n)."""
    check_tensor("tokens", tokens)
    if tokens.dim() != 2 or tokens.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"tokens must be int64 of shape (batch, n); got {tokens.dtype} of shape {tuple(tokens.shape)}")


def check_tokens(tokens: Tensor, max_length: float = math.inf, start: int = 0) -> None:
    """Raise ValueError unless the token ids are valid and fit into the model's maximum length.

    Args:
        tokens: The token ids.
        max_length: Maximum number of tokens, including earlier tokens.
        start: Number of earlier tokens.

    Raises:
        ValueError: ``tokens`` is empty, too long, or not an integer tensor of shape (batch, n).
        TypeError: ``tokens`` is not a tensor.

    >>> check_tokens(torch.tensor([[1, 11, 2]]), max_length=2)
    Traceback (most recent call last):
        ...
    ValueError: the model accepts 1 to 2 tokens (max_length); got 3
    """
    check_token_ids(tokens)
    if not 1 <= tokens.shape[1] <= max_length - start:
        n = f"{tokens.shape[1]} after {start}" if start else tokens.shape[1]
        accepted = "at least 1 token" if max_length == math.inf else f"1 to {max_length} tokens (max_length)"
        raise ValueError(f"the model accepts {accepted}; got {n}")


def check_length(n_tokens: int, max_length: int) -> None:
    """Raise ValueError unless 1 ≤ n_tokens ≤ max_length.

    Args:
        n_tokens: Number of tokens.
        max_length: The model's maximum number of tokens.

    >>> check_length(18, max_length=17)
    Traceback (most recent call last):
        ...
    ValueError: the model accepts 1 to 17 tokens (max_length); got 18
    """
    if not 1 <= n_tokens <= max_length:
        raise ValueError(f"the model accepts 1 to {max_length} tokens (max_length); got {n_tokens}")


def check_positive(**sizes: float) -> None:
    """Raise ValueError unless every size is above 0.

    >>> check_positive(d_model=8, n_heads=0)
    Traceback (most recent call last):
        ...
    ValueError: n_heads must be positive; got n_heads=0
    """
    for name, size in sizes.items():
        if not size > 0:  # also rejects NaN
            raise ValueError(f"{name} must be positive; got {name}={size}")


def check_integer(**sizes: object) -> None:
    """Raise ValueError unless every size is a Python or NumPy integer.

    >>> check_integer(d_model=8.0)
    Traceback (most recent call last):
        ...
    ValueError: d_model must be an integer; got d_model=8.0
    """
    for name, size in sizes.items():
        if not hasattr(size, "__index__"):
            raise ValueError(f"{name} must be an integer; got {name}={size!r}")


def check_probability(**probabilities: float) -> None:
    """Raise ValueError unless every probability is between 0 and 1.

    >>> check_probability(dropout=1.5)
    Traceback (most recent call last):
        ...
    ValueError: dropout must be between 0 and 1; got dropout=1.5
    """
    for name, probability in probabilities.items():
        if not 0 <= probability <= 1:  # also rejects NaN
            raise ValueError(f"{name} must be between 0 and 1; got {name}={probability}")


def check_not_negative(**sizes: float) -> None:
    """Raise ValueError unless every size is at least 0.

    >>> check_not_negative(max_new_tokens=-1)
    Traceback (most recent call last):
        ...
    ValueError: max_new_tokens must not be negative; got max_new_tokens=-1
    """
    for name, size in sizes.items():
        if not size >= 0:  # also rejects NaN
            raise ValueError(f"{name} must not be negative; got {name}={size}")


def check_token_id(name: str, token_id: int, vocab_size: int) -> None:
    """Raise ValueError unless a token id is in the vocabulary.

    >>> check_token_id("pad_id", 11, vocab_size=11)
    Traceback (most recent call last):
        ...
    ValueError: pad_id must be a token id from 0 to 10; got pad_id=11
    """
    if not 0 <= token_id < vocab_size:
        raise ValueError(f"{name} must be a token id from 0 to {vocab_size - 1}; got {name}={token_id}")


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise ValueError unless a value is one of the choices.

    >>> check_choice("norm", "batch", ["layer", "rms"])
    Traceback (most recent call last):
        ...
    ValueError: norm must be one of layer, rms; got norm='batch'
    """
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {name}={value!r}")


def check_fields(config: Any) -> None:
    """Raise ValueError unless the fields of a dataclass match their annotations.

    An ``int`` field must be an integer, and a ``Literal`` field must be one of its values.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Config:
    ...     norm: Literal["layer", "rms"]
    >>> check_fields(Config("batch"))
    Traceback (most recent call last):
        ...
    ValueError: norm must be one of layer, rms; got norm='batch'
    """
    for field in fields(config):
        value, kinds = getattr(config, field.name), get_args(field.type) or (field.type,)
        if get_origin(field.type) is Literal:
            check_choice(field.name, value, kinds)
        elif int in kinds and value is not None:
            check_integer(**{field.name: value})
