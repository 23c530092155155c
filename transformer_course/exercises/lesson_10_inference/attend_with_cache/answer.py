"""The answer to ``attend_with_cache``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercises.shared.attention_steps import ATTENTION
from transformer_course.steps import InSteps


def attend_with_cache(
    query: Float[Tensor, "batch n_heads 1 d"],
    key: Float[Tensor, "batch n_heads 1 d"],
    value: Float[Tensor, "batch n_heads 1 d"],
    cache: tuple[Float[Tensor, "batch n_heads n_old d"], Float[Tensor, "batch n_heads n_old d"]] | None,
) -> tuple[Float[Tensor, "batch n_heads 1 d"], tuple[Tensor, Tensor]]:
    """Let the newest token attend to itself and to all before it; return the output and the longer cache."""
    keys, values = key, value
    if cache is not None:
        keys, values = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    scores = query @ keys.mT / query.shape[-1] ** 0.5
    return scores.softmax(dim=-1) @ values, (keys, values)


def keys(cache, key):
    """append the new key to those of the cache

    the keys of all tokens so far: (batch, n_heads, n, d)
    """
    return key if cache is None else torch.cat([cache[0], key], dim=-2)


def values(cache, value):
    """append the new value to those of the cache

    the values of all tokens so far: (batch, n_heads, n, d)
    """
    return value if cache is None else torch.cat([cache[1], value], dim=-2)


def queries(query):
    """ask with the new query alone

    the queries: the new one alone
    """
    return query


def kept(keys, values):
    """make the new cache of all keys and values

    the new cache: a pair of all keys and all values
    """
    return keys, values


def answer(mixture, kept):
    """return the output and the new cache

    the output and the new cache
    """
    return mixture, kept


STEPS = InSteps(keys, values, queries, *ATTENTION, kept, answer, reference=attend_with_cache)
