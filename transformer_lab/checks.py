"""What a model cannot take is refused here, with a message that names it.

Shapes are checked against their annotations in tests and in lessons only; these few checks are always on.
"""

import math

import torch
from torch import Tensor


def check_width(name: str, width: int, **inputs: Tensor) -> None:
    """Refuse vectors of another width than a module was made for.

    Args:
        name: What the width is called there.
        width: How wide the vectors must be.
        **inputs: The vectors, under the names that the message gives them.

    Raises:
        ValueError: The last axis of an input has another length.

    >>> check_width("d_model", 8, x=torch.zeros(2, 3, 7))
    Traceback (most recent call last):
        ...
    ValueError: x must be d_model=8 wide; got shape (2, 3, 7)
    """
    for given, x in inputs.items():
        if x.shape[-1:] != (width,):
            raise ValueError(f"{given} must be {name}={width} wide; got shape {tuple(x.shape)}")


def check_tokens(tokens: Tensor, vocab_size: int, max_length: float = math.inf, start: int = 0) -> None:
    """Refuse token ids that a model has no embedding for, or no positions.

    The ids themselves are looked at on a CPU only: elsewhere, that would make the program wait for the accelerator.

    Args:
        tokens: The tokens.
        vocab_size: How many different ones there are.
        max_length: How many a model takes.
        start: How many it has taken before these.

    Raises:
        ValueError: The tokens are none, too many, no whole numbers, or not in the vocabulary.

    >>> check_tokens(torch.tensor([[1, 11]]), vocab_size=11)
    Traceback (most recent call last):
        ...
    ValueError: token ids go from 0 to vocab_size − 1 = 10; got 11
    """
    if tokens.dim() != 2 or tokens.dtype not in (torch.int64, torch.int32):
        raise ValueError(f"tokens must be int64 of shape (batch, n); got {tokens.dtype} of shape {tuple(tokens.shape)}")
    if not 1 <= tokens.shape[1] <= max_length - start:
        n = f"{tokens.shape[1]} after {start}" if start else tokens.shape[1]
        raise ValueError(f"this model takes 1 to max_length={max_length} tokens; got {n}")
    if tokens.device.type != "cpu" or torch.compiler.is_compiling() or not tokens.numel():
        return  # to look at the ids would also break a compiled graph in two
    low, high = (int(end) for end in tokens.aminmax())
    if low < 0 or high >= vocab_size:
        raise ValueError(f"token ids go from 0 to vocab_size − 1 = {vocab_size - 1}; got {low if low < 0 else high}")


def check_length(n_tokens: int, max_length: int) -> None:
    """Refuse to begin what a model will not be able to end.

    Args:
        n_tokens: How many tokens it will read.
        max_length: How many it takes.

    Raises:
        ValueError: It takes fewer, or none are to be read.

    >>> check_length(18, max_length=17)
    Traceback (most recent call last):
        ...
    ValueError: this model reads 1 to max_length=17 tokens; 18 were asked for
    """
    if not 1 <= n_tokens <= max_length:
        raise ValueError(f"this model reads 1 to max_length={max_length} tokens; {n_tokens} were asked for")
