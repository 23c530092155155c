"""Checks of arguments that stay on when shapes are not checked: each raises a ValueError that names the values.

Shapes are checked against their annotations in tests only, unless asked for.
"""

import math
from collections.abc import Collection
from dataclasses import fields
from typing import Any, Literal, get_args, get_origin

import torch
from torch import Tensor


def check_width(name: str, width: int, **inputs: Tensor) -> None:
    """Raise ValueError unless the last axis of every input is ``width``.

    Args:
        name: Name of the width in the message.
        width: Required length of the last axis.
        **inputs: The inputs, under their names in the message.

    >>> check_width("d_model", 8, x=torch.zeros(2, 3, 7))
    Traceback (most recent call last):
        ...
    ValueError: x must be d_model=8 wide; got shape (2, 3, 7)
    """
    for given, x in inputs.items():
        if x.shape[-1:] != (width,):
            raise ValueError(f"{given} must be {name}={width} wide; got shape {tuple(x.shape)}")


def check_sequences(d_model: int, **inputs: Tensor) -> None:
    """Raise ValueError unless every input is a batch of sequences of ``d_model`` wide vectors.

    >>> check_sequences(8, x=torch.zeros(3, 8))
    Traceback (most recent call last):
        ...
    ValueError: x must be of shape (batch, n, d_model=8); got shape (3, 8)
    """
    for given, x in inputs.items():
        if x.dim() != 3 or x.shape[-1] != d_model:
            raise ValueError(f"{given} must be of shape (batch, n, {d_model=}); got shape {tuple(x.shape)}")


def check_tokens(tokens: Tensor, max_length: float = math.inf, start: int = 0) -> None:
    """Raise ValueError unless a model has positions for these token ids.

    Args:
        tokens: The token ids.
        max_length: Maximum number of tokens, those before these included.
        start: Number of tokens before these.

    Raises:
        ValueError: ``tokens`` is empty, too long, or not an integer tensor of shape (batch, n).

    >>> check_tokens(torch.tensor([[1, 11, 2]]), max_length=2)
    Traceback (most recent call last):
        ...
    ValueError: this model takes 1 to max_length=2 tokens; got 3
    """
    if tokens.dim() != 2 or tokens.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"tokens must be int64 of shape (batch, n); got {tokens.dtype} of shape {tuple(tokens.shape)}")
    if not 1 <= tokens.shape[1] <= max_length - start:
        n = f"{tokens.shape[1]} after {start}" if start else tokens.shape[1]
        raise ValueError(f"this model takes 1 to max_length={max_length} tokens; got {n}")


def check_length(n_tokens: int, max_length: int) -> None:
    """Raise ValueError unless 1 ≤ n_tokens ≤ max_length.

    Args:
        n_tokens: Number of tokens that a model is to read.
        max_length: Maximum number that it can read.

    >>> check_length(18, max_length=17)
    Traceback (most recent call last):
        ...
    ValueError: this model reads 1 to max_length=17 tokens; 18 were asked for
    """
    if not 1 <= n_tokens <= max_length:
        raise ValueError(f"this model reads 1 to max_length={max_length} tokens; {n_tokens} were asked for")


def check_positive(**sizes: float) -> None:
    """Raise ValueError unless every size is above 0.

    >>> check_positive(d_model=8, n_heads=0)
    Traceback (most recent call last):
        ...
    ValueError: n_heads must be positive; got n_heads=0
    """
    for name, size in sizes.items():
        if not size > 0:  # as NaN is not, either
            raise ValueError(f"{name} must be positive; got {name}={size}")


def check_not_negative(**sizes: float) -> None:
    """Raise ValueError unless every size is at least 0.

    >>> check_not_negative(max_new_tokens=-1)
    Traceback (most recent call last):
        ...
    ValueError: max_new_tokens must not be negative; got max_new_tokens=-1
    """
    for name, size in sizes.items():
        if not size >= 0:  # as NaN is not, either
            raise ValueError(f"{name} must not be negative; got {name}={size}")


def check_token_id(name: str, token_id: int, vocab_size: int) -> None:
    """Raise ValueError unless a token id is in the vocabulary.

    >>> check_token_id("pad_id", 11, vocab_size=11)
    Traceback (most recent call last):
        ...
    ValueError: pad_id must be a token, from 0 to 10; got pad_id=11
    """
    if not 0 <= token_id < vocab_size:
        raise ValueError(f"{name} must be a token, from 0 to {vocab_size - 1}; got {name}={token_id}")


def check_choice(name: str, value: object, choices: Collection[str]) -> None:
    """Raise ValueError unless a value is one of the choices.

    >>> check_choice("norm", "batch", ["layer", "rms"])
    Traceback (most recent call last):
        ...
    ValueError: norm must be one of layer, rms; got norm='batch'
    """
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}; got {name}={value!r}")


def check_choices(config: Any) -> None:
    """Raise ValueError unless every field of a dataclass that is annotated with a ``Literal`` has one of its values.

    >>> from dataclasses import dataclass
    >>> @dataclass
    ... class Config:
    ...     norm: Literal["layer", "rms"]
    >>> check_choices(Config("batch"))
    Traceback (most recent call last):
        ...
    ValueError: norm must be one of layer, rms; got norm='batch'
    """
    for field in fields(config):
        if get_origin(field.type) is Literal:
            check_choice(field.name, getattr(config, field.name), get_args(field.type))
