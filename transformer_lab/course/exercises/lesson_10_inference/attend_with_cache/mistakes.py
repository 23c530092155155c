"""What goes wrong when a new token attends to a cache."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_10_inference.attend_with_cache.answer import STEPS

MISTAKES = [
    Mistake(
        "new_token_first",
        [
            STEPS.but(
                keys=lambda cache, key: key if cache is None else torch.cat([key, cache[0]], dim=-2),
                values=lambda cache, value: value if cache is None else torch.cat([value, cache[1]], dim=-2),
            )
        ],
        does="the new key and value are put in front of the old ones",
        says="The new key and value are put in *front* of the old ones, so the cache grows backwards.",
        hints=[
            "Where does the newest token stand in the text, and where in the cache?",
            "`torch.cat` joins its pieces in the order of the list.",
            "`torch.cat([cache[0], key], dim=-2)`.",
        ],
    ),
    Mistake(
        "not_in_the_new_cache",
        [STEPS.but(kept=lambda cache, key, value: (key, value) if cache is None else cache)],
        does="the cache comes back without the new key and value",
        says="The cache comes back as it came in: the next token would not find this one in it.",
        hints=[
            "How many positions should the new cache have, and how many has it?",
            "What the scores are made with is what should be kept.",
            "Return `(keys, values)` as the cache: all of them, the new ones at the end.",
        ],
    ),
    Mistake(
        "only_the_new_token_kept",
        [STEPS.but(kept=lambda key, value: (key, value))],
        does="only the new key and value are returned as the cache",
        says="The new cache holds the new token alone: what was kept of the earlier ones is lost.",
        hints=[
            "How many positions should the new cache have, and how many has it?",
            "The next token has to find this one *and* all the earlier ones.",
            "Return `(keys, values)` as the cache: all of them, the new ones at the end.",
        ],
    ),
    Mistake(
        "without_itself",
        [
            STEPS.but(
                turned=lambda cache, key: (key if cache is None else cache[0]).mT,
                mixture=lambda weights, cache, value: weights @ (value if cache is None else cache[1]),
            )
        ],
        does="the new token attends to the old ones and not to itself",
        says="The new token attends to the cache as it came in, so not to itself.",
        hints=[
            "What does a causal mask say of a position and itself?",
            "How many scores should there be with one token in the cache?",
            "First append the new key and value, then compute the scores.",
        ],
    ),
]
