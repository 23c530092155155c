"""Sampling: draw the next token from what a model says, or from the likelier part of it."""

from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

Choose = Callable[[Tensor], Tensor]
"""From the logits of what may come next, (batch, vocab_size), to what does, (batch)."""


def restrict(
    logits: Float[Tensor, "batch vocab_size"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
) -> Float[Tensor, "batch vocab_size"]:
    """Give the logits of the distribution that is drawn from.

    Args:
        logits: What the model says.
        temperature: Divides the logits: below 1 the likely gets likelier, above 1 rarer.
        top_k: Keep so many tokens, the likeliest. None keeps all.
        top_p: Of these keep the smallest set, from the likeliest on, whose probabilities reach this: Holtzman et al.
            (2020), arXiv:1904.09751. None keeps all.

    Returns:
        The logits; −∞ for what is never drawn.

    Raises:
        ValueError: The temperature is not above 0, ``top_k`` is below 1, or ``top_p`` not above 0 and at most 1.

    >>> restrict(torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log(), top_p=0.6).softmax(-1)
    tensor([[0.5714, 0.4286, 0.0000, 0.0000]])
    """
    check_restriction(temperature, top_k, top_p)
    logits = logits / temperature
    if top_k is None and top_p is None:
        return logits
    ranked, order = logits.sort(dim=-1, descending=True)
    ranks = torch.arange(ranked.shape[-1], device=logits.device)
    if top_k is not None:
        ranked = ranked.masked_fill(ranks >= top_k, -torch.inf)
    if top_p is not None:
        likelier = ranked.softmax(dim=-1).cumsum(dim=-1).roll(1, dims=-1)  # the mass of all tokens before each
        ranked = ranked.masked_fill((likelier >= top_p) & (ranks > 0), -torch.inf)
    return torch.empty_like(logits).scatter_(-1, order, ranked)


def check_restriction(temperature: float, top_k: int | None, top_p: float | None) -> None:
    """Refuse arguments of ``restrict`` that make no distribution.

    Raises:
        ValueError: The temperature is not above 0, ``top_k`` is below 1, or ``top_p`` not above 0 and at most 1.
    """
    if not temperature > 0 or (top_k is not None and top_k < 1) or (top_p is not None and not 0 < top_p <= 1):
        raise ValueError(
            f"needed are temperature > 0, top_k ≥ 1, 0 < top_p ≤ 1; got {temperature=}, {top_k=}, {top_p=}"
        )


def sample_next(
    logits: Float[Tensor, "batch vocab_size"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
) -> Int[Tensor, " batch"]:
    """Draw the next token of each text; arguments and errors as in ``restrict``.

    The draw is repeatable given a generator with a known seed.
    """
    probabilities = restrict(logits, temperature, top_k, top_p).softmax(dim=-1)
    return torch.multinomial(probabilities, 1, generator=generator)[:, 0]


def likeliest(logits: Float[Tensor, "rows vocab_size"]) -> Int[Tensor, " rows"]:
    """Choose the likeliest token."""
    return logits.argmax(dim=-1)


def chooser(
    temperature: float, top_k: int | None = None, top_p: float | None = None, generator: torch.Generator | None = None
) -> Choose:
    """Give what draws the next token; arguments and errors as in ``restrict``, but at 0 it takes the likeliest."""
    if temperature == 0:
        return likeliest
    check_restriction(temperature, top_k, top_p)
    return partial(sample_next, temperature=temperature, top_k=top_k, top_p=top_p, generator=generator)
