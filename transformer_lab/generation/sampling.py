"""Sampling: draw the next token from a model's distribution, or from the most probable part of it."""

import math
from collections.abc import Callable
from functools import partial

import torch
from jaxtyping import Float, Int
from torch import Tensor

from transformer_lab.checks import check_has_data

Sampler = Callable[[Tensor], Tensor]
"""From the logits of the next tokens, (batch, vocab_size), to the next tokens, (batch)."""


def filter_logits(
    logits: Float[Tensor, "batch vocab_size"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
) -> Float[Tensor, "batch vocab_size"]:
    """Return the logits of the distribution to sample from.

    Args:
        logits: The model's logits.
        temperature: Divides the logits: below 1, probable tokens become more probable; above 1, less.
        top_k: Number of tokens to keep, the most probable ones. None keeps all.
        top_p: Of these, keep the smallest set, from the most probable token on, whose probabilities add up to this:
            Holtzman et al. (2020), arXiv:1904.09751. None keeps all.
        min_p: Keep the tokens whose probability is at least this fraction of the most probable one's: section 3 of
            Nguyen et al. (2024), arXiv:2407.01082. None keeps all.

    Returns:
        The logits, in float32 at least; −∞ for tokens that are never drawn.

    Raises:
        ValueError: The temperature is not above 0, ``top_k`` is below 1, or ``top_p`` or ``min_p`` is not above 0 and
            at most 1.

    >>> filter_logits(torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log(), top_p=0.6).softmax(-1)
    tensor([[0.5714, 0.4286, 0.0000, 0.0000]])
    """
    check_sampling_options(temperature, top_k, top_p, min_p)
    logits = logits.to(torch.promote_types(logits.dtype, torch.float32))  # sums in half precision are far off
    logits = logits - logits.amax(dim=-1, keepdim=True)  # so that no temperature makes them overflow
    logits = logits / max(temperature, torch.finfo(logits.dtype).tiny)
    if min_p is not None:
        logits = logits.masked_fill(logits < math.log(min_p), -torch.inf)  # the most probable token's logit is 0
    top_p = None if top_p == 1 else top_p  # rounded sums reach 1 before the last token
    if top_k is None and top_p is None:
        return logits
    n_kept = logits.shape[-1] if top_k is None else min(top_k, logits.shape[-1])
    ranked, order = logits.topk(n_kept) if top_k is not None else logits.sort(dim=-1, descending=True)
    if top_p is not None:
        mass_before = ranked.softmax(dim=-1).cumsum(dim=-1).roll(1, dims=-1)  # of all tokens ranked above each
        later = torch.arange(n_kept, device=logits.device) > 0
        ranked = ranked.masked_fill((mass_before >= top_p) & later, -torch.inf)
    return torch.full_like(logits, -torch.inf).scatter_(-1, order, ranked)


def check_sampling_options(
    temperature: float, top_k: int | None, top_p: float | None, min_p: float | None = None
) -> None:
    """Raise ValueError unless these arguments of ``filter_logits`` define a distribution; bounds as there."""
    if not temperature > 0:
        raise ValueError(f"temperature must be above 0 to sample; got {temperature=}")
    if top_k is not None and top_k < 1:
        raise ValueError(f"top_k must be at least 1; got {top_k=}")
    for name, p in {"top_p": top_p, "min_p": min_p}.items():
        if p is not None and not 0 < p <= 1:
            raise ValueError(f"{name} must be above 0 and at most 1; got {name}={p}")


def check_logits(logits: Float[Tensor, "rows vocab_size"]) -> None:
    """Raise ValueError if some row defines no distribution: it holds NaN or +∞, or nothing but −∞.

    >>> check_logits(torch.tensor([[0.0, 1.0], [0.0, torch.nan]]))
    Traceback (most recent call last):
        ...
    ValueError: row 1 of the logits has the maximum nan: check the parameters for NaN, and half precision for overflow
    """
    check_has_data(logits)
    for row, largest in enumerate(logits.amax(dim=-1).tolist()):  # faster than operations on such short tensors
        if not math.isfinite(largest):
            found = f"row {row} of the logits has the maximum {largest}"
            raise ValueError(f"{found}: check the parameters for NaN, and half precision for overflow")


def sample_next(
    logits: Float[Tensor, "batch vocab_size"],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    min_p: float | None = None,
) -> Int[Tensor, " batch"]:
    """Draw the next token of each text; arguments and errors as in ``filter_logits``.

    The draw is repeatable given a generator with a known seed.
    """
    probabilities = filter_logits(logits, temperature, top_k, top_p, min_p).softmax(dim=-1)
    return torch.multinomial(probabilities, 1, generator=generator)[:, 0]


def greedy(logits: Float[Tensor, "rows vocab_size"]) -> Int[Tensor, " rows"]:
    """Return the most probable token of each row."""
    if len(logits) == 1:
        return logits.argmax(dim=-1)
    return logits.max(dim=-1).indices  # the same, in a third of the time on a CPU


def make_sampler(
    temperature: float,
    top_k: int | None = None,
    top_p: float | None = None,
    generator: torch.Generator | None = None,
    min_p: float | None = None,
) -> Sampler:
    """Return a function that samples the next tokens; at temperature 0, the one that takes the most probable.

    Arguments and errors are those of ``sample_next``; errors are raised here, not at the first token.
    """
    if temperature == 0:
        return greedy
    check_sampling_options(temperature, top_k, top_p, min_p)
    return partial(sample_next, temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p, generator=generator)
