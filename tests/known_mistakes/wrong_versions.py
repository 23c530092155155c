"""Wrong versions of the library's functions, as people write them, for contracts that are no exercise's."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import torch
from torch import Tensor

from transformer_course.exercises.lesson_08_training.smoothed_cross_entropy import EXERCISE as SMOOTHED_CROSS_ENTROPY
from transformer_lab.attention.masks import causal_mask, padding_mask

Function = Callable[..., Any]


def mixing(weigh: Callable[[Tensor, Tensor], Tensor]) -> Function:
    """Make an attention of how it turns scores and a mask into weights."""

    @wraps(weigh, assigned=["__name__"])
    def attention(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
        scores = q @ k.mT / k.shape[-1] ** 0.5
        return weigh(scores, torch.ones_like(scores, dtype=torch.bool) if mask is None else mask) @ v

    return attention


def softmax(scores: Tensor, hidden: Tensor, fill: float = -torch.inf, dim: int = -1) -> Tensor:
    return torch.softmax(scores.masked_fill(hidden, fill), dim)


def weights(scores: Tensor, mask: Tensor) -> Tensor:
    """The right way, spelled otherwise than in the library."""
    return softmax(scores, ~mask, fill=-1e30).masked_fill(~mask, 0)


right = mixing(weights)


@mixing
def inverted(scores: Tensor, mask: Tensor) -> Tensor:
    return softmax(scores, mask, fill=-1e30).masked_fill(mask, 0)


@mixing
def not_masked(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1)


@mixing
def hidden_after_the_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    return torch.softmax(scores, dim=-1) * mask


@mixing
def scores_of_zero(scores: Tensor, mask: Tensor) -> Tensor:
    return softmax(scores, ~mask, fill=0)


@mixing
def minus_a_billion(scores: Tensor, mask: Tensor) -> Tensor:
    return softmax(scores, ~mask, fill=-1e9)


@mixing
def nan_where_nothing_is_seen(scores: Tensor, mask: Tensor) -> Tensor:
    return softmax(scores, ~mask)


@mixing
def nan_repaired_too_late(scores: Tensor, mask: Tensor) -> Tensor:
    return softmax(scores, ~mask).nan_to_num()


@mixing
def softmax_over_queries(scores: Tensor, mask: Tensor) -> Tensor:
    return softmax(scores, ~mask, fill=-1e30, dim=-2).masked_fill(~mask, 0)


@mixing
def no_softmax(scores: Tensor, mask: Tensor) -> Tensor:
    return scores * mask


@mixing
def prefers_late_keys(scores: Tensor, mask: Tensor) -> Tensor:
    return weights(scores + torch.arange(scores.shape[-1]), mask)


@mixing
def late_queries_are_sharper(scores: Tensor, mask: Tensor) -> Tensor:
    return weights(scores * torch.arange(scores.shape[-2])[:, None], mask)


@mixing
def reads_the_mask_of_the_first_query(scores: Tensor, mask: Tensor) -> Tensor:
    return weights(scores, mask[..., :1, :])


@mixing
def as_many_keys_from_the_left(scores: Tensor, mask: Tensor) -> Tensor:
    return weights(scores, torch.arange(scores.shape[-1]) < mask.sum(dim=-1, keepdim=True))


@mixing
def weights_without_gradient(scores: Tensor, mask: Tensor) -> Tensor:
    return weights(scores, mask).detach()


@mixing
def float32_inside(scores: Tensor, mask: Tensor) -> Tensor:
    return weights(scores.float(), mask).to(scores.dtype)


def float32_outside(q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None = None) -> Tensor:
    return right(q, k, v, mask).float()


def upper_triangle(n_query: int, n_key: int | None = None) -> Tensor:
    return causal_mask(n_query, n_key).flip(-1, -2)


def not_itself(n_query: int, n_key: int | None = None) -> Tensor:
    return causal_mask(n_query, n_key).tril((n_key or n_query) - n_query - 1)


def one_ahead(n_query: int, n_key: int | None = None) -> Tensor:
    return torch.ones(n_query, n_key or n_query).tril((n_key or n_query) - n_query + 1).bool()


def first_with_first(n_query: int, n_key: int | None = None) -> Tensor:
    return torch.ones(n_query, n_key or n_query).tril().bool()


def not_causal(n_query: int, n_key: int | None = None) -> Tensor:
    return torch.ones(n_query, n_key or n_query).bool()


def hides_the_tokens(tokens: Tensor, pad_id: int) -> Tensor:
    return ~padding_mask(tokens, pad_id)


def padding_is_always_zero(tokens: Tensor, pad_id: int) -> Tensor:
    return padding_mask(tokens, 0)


def padding_is_the_smallest(tokens: Tensor, pad_id: int) -> Tensor:
    return (tokens > pad_id)[:, None, None, :]


def either_will_do(tokens: Tensor, pad_id: int) -> Tensor:
    return padding_mask(tokens, pad_id) | causal_mask(tokens.shape[-1])


def padding_forgotten(tokens: Tensor, pad_id: int) -> Tensor:
    return causal_mask(tokens.shape[-1]).expand(len(tokens), 1, -1, -1)


def causality_forgotten(tokens: Tensor, pad_id: int) -> Tensor:
    return padding_mask(tokens, pad_id).repeat(1, 1, tokens.shape[-1], 1)


def log_of_the_softmax(logits: Tensor, targets: Tensor, pad_id: int, smoothing: float) -> Tensor:
    chosen = logits.softmax(dim=-1).log().gather(-1, targets[..., None])[..., 0]
    return -chosen[targets != pad_id].mean()


def loss_without_gradient(logits: Tensor, targets: Tensor, pad_id: int, smoothing: float) -> Tensor:
    return SMOOTHED_CROSS_ENTROPY.reference(logits.detach(), targets, pad_id, smoothing) + 0 * logits.sum()
