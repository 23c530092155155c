"""What goes wrong with the cache itself: in what is read from it, appended to it, and returned."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_10_inference.attend_with_cache.answer import STEPS
from transformer_course.exercises.shared import attention_mistakes


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
        does="the new key and value are put in front of the old ones",
        says="The new key and value are put in *front* of the old ones, so the cache grows backwards.",
        hints=["Where does the newest token stand in the text, and where in the cache?"],
    ),
    Mistake(
        "queries_kept",
        STEPS.but(kept=lambda cache, query, values: (joined(old(cache, 0), query), values)),
        does="queries are kept, and not keys",
        says=(
            "Queries are kept in place of keys. A query is used once, when its token is new; later tokens ask with "
            "their own."
        ),
        hints=["Which of query, key and value does a *later* token need of an earlier one?"],
    ),
    Mistake(
        "not_in_the_new_cache",
        STEPS.but(kept=lambda cache, key, value: (key, value) if cache is None else cache),
        STEPS.but(kept=lambda cache: cache),
        does="the cache comes back without the new key and value",
        says="The cache comes back as it came in: the next token would not find this one in it.",
        hints=["How many positions should the new cache have, and how many has it?"],
    ),
    Mistake(
        "only_the_new_token_kept",
        STEPS.but(kept=lambda key, value: (key, value)),
        does="only the new key and value are returned as the cache",
        says="The new cache holds the new token alone: what was kept of the earlier ones is lost.",
        hints=["How many positions should the new cache have, and how many has it?"],
    ),
    Mistake(
        "without_itself",
        STEPS.but(
            turned=lambda cache, key: (key if cache is None else cache[0]).mT,
            mixture=lambda weights, cache, value: weights @ (value if cache is None else cache[1]),
        ),
        does="the new token attends to the old ones and not to itself",
        says="The new token attends to the cache as it came in, so not to itself.",
        hints=["What does a causal mask say of a position and itself?"],
    ),
    *attention_mistakes.of_the_width(STEPS),
    Mistake(
        "sees_only_the_first_token",
        STEPS.but(mixture=lambda values: values[:, :, :1]),
        does="the new token attends to the first token alone",
        says=(
            "{does}. So it does with a causal mask for as many queries as keys, such as torch's `is_causal`: a single "
            "query gets its first row. The new token is the last one: what may it see?"
        ),
        hints=["Which row of a causal mask belongs to the newest token?"],
    ),
    Mistake(
        "cache_not_a_pair",
        STEPS.but(answer=lambda mixture, keys, values: (mixture, keys, values)),
        STEPS.but(kept=lambda keys, values: torch.stack([keys, values])),
        does="what comes back is not (output, (keys, values))",
        says="The right tensors, put together otherwise: the output comes first, and then a *pair*, the cache.",
        hints=["What does the annotation after `->` promise?"],
    ),
]
