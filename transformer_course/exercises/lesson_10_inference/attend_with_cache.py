"""One decoding step with a KV cache."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.attention_steps import ATTENTION
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def attend_with_cache(
    query: Float[Tensor, "batch n_heads 1 d"],
    key: Float[Tensor, "batch n_heads 1 d"],
    value: Float[Tensor, "batch n_heads 1 d"],
    cache: tuple[Float[Tensor, "batch n_heads n_old d"], Float[Tensor, "batch n_heads n_old d"]] | None,
) -> tuple[Float[Tensor, "batch n_heads 1 d"], tuple[Tensor, Tensor]]:
    """Let the newest token attend to itself and to all earlier tokens; return the output and the new cache."""
    keys, values = key, value
    if cache is not None:
        keys, values = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    scores = query @ keys.mT / query.shape[-1] ** 0.5
    return scores.softmax(dim=-1) @ values, (keys, values)


def keys(cache, key):
    """append the new key to the cached keys → the keys of all tokens: (batch, n_heads, n, d)"""
    return key if cache is None else torch.cat([cache[0], key], dim=-2)


def values(cache, value):
    """append the new value to the cached values → the values of all tokens: (batch, n_heads, n, d)"""
    return value if cache is None else torch.cat([cache[1], value], dim=-2)


def queries(query):
    """attend with the new query alone → the new query"""
    return query


def kept(keys, values):
    """store all keys and values in the new cache → the new cache: the pair of all keys and all values"""
    return keys, values


def answer(mixture, kept):
    """return the output and the new cache → the output and the cache"""
    return mixture, kept


STEPS = InSteps(keys, values, queries, *ATTENTION, kept, answer, reference=attend_with_cache)


def attend_with_cache_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def chain(batch: int, n_heads: int, d: int, *steps: tuple[int, str]) -> list[Case]:
        """Draw a text and return cases for some of its tokens, each with a cache of the earlier tokens."""
        length = max(n for n, _ in steps) + 1
        query, key, value = (normal(rng, batch, n_heads, length, d) for _ in range(3))

        def case(n_old: int, shows: str) -> Case:
            new = slice(n_old, n_old + 1)
            cache = (key[:, :, :n_old].clone(), value[:, :, :n_old].clone()) if n_old else None
            inputs = {"query": query[:, :, new], "key": key[:, :, new], "value": value[:, :, new], "cache": cache}
            return Case(inputs, shows)

        return [case(*step) for step in steps]

    loud = chain(1, 3, 7, (3, "very large scores"))
    loud[0].inputs["query"].mul_(300)
    return [
        *chain(
            1, 2, 3,
            (0, "the first token: there is no cache"),
            (1, "the second token: one token in the cache"),
            (2, "the third token: two tokens in the cache"),
        ),
        *loud,
        *chain(3, 2, 5, (0, "the first token of 3 texts"), (4, "the fifth token of 3 texts")),
        *chain(2, 4, 6, (6, "6 cached tokens of width 6")),
        *chain(5, 7, 16, (29, "the 30th token of 5 texts, 7 heads")),
    ]  # fmt: skip


def joined(old, new, dim=-2):
    """Concatenate along a dimension, or return ``new`` if ``old`` is None."""
    return new if old is None else torch.cat([old, new], dim=dim)


def old(cache, number):
    """Return the cached keys or values, or None without a cache."""
    return None if cache is None else cache[number]


MISTAKES = [
    Mistake(
        "new_token_first",
        STEPS.but(
            keys=lambda cache, key: key if cache is None else torch.cat([key, cache[0]], dim=-2),
            values=lambda cache, value: value if cache is None else torch.cat([value, cache[1]], dim=-2),
        ),
        summary="you put the new key and value in front of the cached ones",
        message=(
            "{summary}, so after three calls your cache holds the tokens in the order 3, 2, 1. At which end should "
            "you add the new token?"
        ),
        hints=["At which index of the key dimension is the newest token in your cache? At which index should it be?"],
    ),
    Mistake(
        "queries_kept",
        STEPS.but(kept=lambda cache, query, values: (joined(old(cache, 0), query), values)),
        summary="you cache queries instead of keys",
        message=(
            "{summary}, so later tokens compare their queries with old queries. A query is used only once, when its "
            "token is new. Which tensors do later tokens need from this token?"
        ),
        hints=["When a later token attends to an earlier one, does it need the earlier token's query, key or value?"],
    ),
    Mistake(
        "not_in_the_new_cache",
        STEPS.but(kept=lambda cache, key, value: (key, value) if cache is None else cache),
        STEPS.but(kept=lambda cache: cache),
        summary="you return the old cache, without the new key and value",
        message="{summary}, so later tokens can't attend to this one. Which keys and values should the new cache hold?",
        hints=[
            "You pass a cache of 4 tokens. How many positions should the returned cache have? How many does your "
            "cache have?"
        ],
    ),
    Mistake(
        "only_the_new_token_kept",
        STEPS.but(kept=lambda key, value: (key, value)),
        summary="you return only the new key and value as the cache",
        message=(
            "{summary}, so the next token can't attend to any token before this one. Which keys and values should the "
            "new cache hold?"
        ),
        hints=[
            "You pass a cache of 4 tokens. How many positions should the returned cache have? How many does your "
            "cache have?"
        ],
    ),
    Mistake(
        "without_itself",
        STEPS.but(
            turned=lambda cache, key: (key if cache is None else cache[0]).mT,
            mixture=lambda weights, cache, value: weights @ (value if cache is None else cache[1]),
        ),
        summary="your new token attends only to the cached tokens, not to itself",
        message=(
            "{summary}: you use the old cache, without the new key and value. Which keys may the new query attend to?"
        ),
        hints=["In a causal mask, may a position attend to itself?"],
    ),
    Mistake(
        "sees_only_the_first_token",
        STEPS.but(mixture=lambda values: values[:, :, :1]),
        summary="your new token attends only to the first token",
        message=(
            "{summary}. With a single query, `is_causal=True` applies the *first* row of the causal mask. Which "
            "tokens may the newest token attend to?"
        ),
        hints=["Which row of a causal mask applies to the newest token?"],
    ),
    Mistake(
        "cache_not_a_pair",
        STEPS.but(answer=lambda mixture, keys, values: (mixture, keys, values)),
        STEPS.but(kept=lambda keys, values: torch.stack([keys, values])),
        summary="you don't return (output, (keys, values))",
        message=(
            "Your tensors are right, but you return them in a different structure. Return two values: the output and "
            "the cache, which is itself a *pair* of keys and values."
        ),
        hints=["Which structure does the annotation after `->` describe?"],
    ),
]


EXERCISE = Exercise(
    reference=attend_with_cache,
    steps=STEPS,
    may_cut_gradients=True,
    cases=attend_with_cache_cases,
    points=3,
    verified="Your query attends to all keys and values so far, and the cache that you return is one token longer.",
    hints=[
        "The cache holds 4 tokens, and you add a new token. How many keys does the new query attend to? How many keys "
        "are there in the first call, when `cache` is None?",
        "First join the cached and the new keys and values. Then this is the attention of lesson 02 with a single "
        "query. The newest token may see all tokens, so you need no mask.",
        "The dimensions are (batch, heads, positions, width). The new key is one more *position* after the cached "
        "ones: `keys = torch.cat([cache[0], key], dim=-2)`, or just `key` without a cache. Do the same for the values.",
        "`scores = query @ keys.mT / query.shape[-1] ** 0.5`. Return `scores.softmax(dim=-1) @ values` and "
        "`(keys, values)`.",
    ],
    messages={
        "wrong_input_width: turned": attention_mistakes.root_of_the_number("keys"),
        "part_left_out_scores: products": Wording(
            "{summary}. For wide vectors, your scores become so large that a single key gets nearly all the weight. "
            "How does the variance of a score grow with d?",
            summary="you don't divide the scores by √d",
        ),
        "parts_exchanged_keys: torch.cat([key, cache[0]], dim=-2)": Wording(
            "{summary}, so keys and values no longer line up: with two tokens, each value gets the weight of the "
            "other token. In which order are your values?",
            summary="you put the new key in front of the cached keys",
        ),
        "parts_exchanged_values: torch.cat([value, cache[1]], dim=-2)": Wording(
            "{summary}, so keys and values no longer line up: with two tokens, each value gets the weight of the "
            "other token. In which order are your keys?",
            summary="you put the new value in front of the cached values",
        ),
        "parts_exchanged_kept: (values, keys)": Wording(
            "{summary}, so the next call uses the values as keys. Which tensor comes first in `cache`?",
            summary="you swap the keys and the values in the new cache",
        ),
        "part_left_out_divisor: width": Wording(
            "You divide the scores by d, so the scores become too small and the weights too uniform. What should you "
            "divide by to bring the variance of the scores to 1?",
            summary="you divide the scores by d instead of √d",
        ),
        "ignored_cache: None": Wording(
            "{summary}, so each token attends only to itself. Which earlier keys and values does it need?",
            summary="you don't use `cache`",
        ),
        "call_left_out_weights: scores": Wording(
            "{summary}. Scores can be negative and don't sum to 1, so your output is not a weighted average. Which "
            "function turns scores into weights?",
            summary="you use the scores as weights, without a softmax",
        ),
        "axis_weights: scores.softmax(dim=-2)": Wording(
            "{summary}. With a single query, every key then gets weight 1. Which `dim` runs over the keys?",
            summary="you take the softmax over the queries",
        ),
    },
    mistakes=MISTAKES,
)
