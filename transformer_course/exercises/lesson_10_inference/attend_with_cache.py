"""One step of decoding: a new token meets the keys and values that earlier ones left behind."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
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
    """Let the newest token attend to itself and to all before it; return the output and the longer cache."""
    keys, values = key, value
    if cache is not None:
        keys, values = torch.cat([cache[0], key], dim=-2), torch.cat([cache[1], value], dim=-2)
    scores = query @ keys.mT / query.shape[-1] ** 0.5
    return scores.softmax(dim=-1) @ values, (keys, values)


def keys(cache, key):
    """append the new key to those of the cache → the keys of all tokens so far: (batch, n_heads, n, d)"""
    return key if cache is None else torch.cat([cache[0], key], dim=-2)


def values(cache, value):
    """append the new value to those of the cache → the values of all tokens so far: (batch, n_heads, n, d)"""
    return value if cache is None else torch.cat([cache[1], value], dim=-2)


def queries(query):
    """ask with the new query alone → the queries: the new one alone"""
    return query


def kept(keys, values):
    """make the new cache of all keys and values → the new cache: a pair of all keys and all values"""
    return keys, values


def answer(mixture, kept):
    """return the output and the new cache → the output and the new cache"""
    return mixture, kept


STEPS = InSteps(keys, values, queries, *ATTENTION, kept, answer, reference=attend_with_cache)


def attend_with_cache_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def chain(batch: int, n_heads: int, d: int, *steps: tuple[int, str]) -> list[Case]:
        """Draw the tokens of a text, and make cases of some: each has the cache that the tokens before it make."""
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
        *chain(2, 4, 6, (6, "a cache as long as it is wide")),
        *chain(5, 7, 16, (29, "the 30th token of 5 texts, 7 heads")),
    ]  # fmt: skip


def joined(old, new, dim=-2):
    """Append along an axis, where there is something to append to."""
    return new if old is None else torch.cat([old, new], dim=dim)


def old(cache, number):
    """Return the old keys or values, if there are any."""
    return None if cache is None else cache[number]


MISTAKES = [
    Mistake(
        "new_token_first",
        STEPS.but(
            keys=lambda cache, key: key if cache is None else torch.cat([key, cache[0]], dim=-2),
            values=lambda cache, value: value if cache is None else torch.cat([value, cache[1]], dim=-2),
        ),
        summary="the new key and value are put in front of the old ones",
        message="The new key and value are put in *front* of the old ones, so the cache grows backwards.",
        hints=["Where does the newest token stand in the text, and where in the cache?"],
    ),
    Mistake(
        "queries_kept",
        STEPS.but(kept=lambda cache, query, values: (joined(old(cache, 0), query), values)),
        summary="queries are kept, and not keys",
        message=(
            "Queries are kept in place of keys. A query is used once, when its token is new; later tokens ask with "
            "their own."
        ),
        hints=["Which of query, key and value does a *later* token need of an earlier one?"],
    ),
    Mistake(
        "not_in_the_new_cache",
        STEPS.but(kept=lambda cache, key, value: (key, value) if cache is None else cache),
        STEPS.but(kept=lambda cache: cache),
        summary="the cache comes back without the new key and value",
        message="The cache comes back as it came in: the next token would not find this one in it.",
        hints=["How many positions should the new cache have, and how many has it?"],
    ),
    Mistake(
        "only_the_new_token_kept",
        STEPS.but(kept=lambda key, value: (key, value)),
        summary="only the new key and value are returned as the cache",
        message="The new cache holds the new token alone: what was kept of the earlier ones is lost.",
        hints=["How many positions should the new cache have, and how many has it?"],
    ),
    Mistake(
        "without_itself",
        STEPS.but(
            turned=lambda cache, key: (key if cache is None else cache[0]).mT,
            mixture=lambda weights, cache, value: weights @ (value if cache is None else cache[1]),
        ),
        summary="the new token attends to the old ones and not to itself",
        message="The new token attends to the cache as it came in, so not to itself.",
        hints=["What does a causal mask say of a position and itself?"],
    ),
    Mistake(
        "sees_only_the_first_token",
        STEPS.but(mixture=lambda values: values[:, :, :1]),
        summary="the new token attends to the first token alone",
        message=(
            "{summary}. So it does with a causal mask for as many queries as keys, such as torch's `is_causal`: a "
            "single query gets its first row. The new token is the last one: what may it see?"
        ),
        hints=["Which row of a causal mask belongs to the newest token?"],
    ),
    Mistake(
        "cache_not_a_pair",
        STEPS.but(answer=lambda mixture, keys, values: (mixture, keys, values)),
        STEPS.but(kept=lambda keys, values: torch.stack([keys, values])),
        summary="what comes back is not (output, (keys, values))",
        message="The right tensors, put together otherwise: the output comes first, and then a *pair*, the cache.",
        hints=["What does the annotation after `->` promise?"],
    ),
]


EXERCISE = Exercise(
    reference=attend_with_cache,
    steps=STEPS,
    may_cut_gradients=True,
    cases=attend_with_cache_cases,
    points=3,
    verified="One query, all keys and values so far, and a cache that is one token longer.",
    hints=[
        "First make the keys and values of all tokens so far; then it is the attention of lesson 02, with a single "
        "query. What becomes of the first call, where `cache` is None?",
        "The axes are (batch, heads, positions, width). The new key is one more *position*, after the old ones; the "
        "same goes for the new value.",
        "`keys = torch.cat([cache[0], key], dim=-2)`, or just `key` if there is no cache, and likewise the values. "
        "The new cache is the pair of both.",
        "`scores = query @ keys.mT / query.shape[-1] ** 0.5`. The newest token may see all, so there is no mask. "
        "Return `scores.softmax(dim=-1) @ values` and `(keys, values)`.",
    ],
    messages={
        "wrong_input_width: turned": attention_mistakes.root_of_the_number("keys"),
        "part_left_out_scores": (
            "The scores are not divided by the root of the width. The wider the vectors, the more one key takes all."
        ),
    },
    mistakes=MISTAKES,
)
