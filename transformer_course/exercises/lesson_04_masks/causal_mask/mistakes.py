"""What goes wrong when a causal mask is made."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.causal_mask.answer import STEPS
from transformer_course.exercises.shared import mask_mistakes

MISTAKES = [
    Mistake(
        "first_query_at_first_key",
        STEPS.but(past=lambda: 0),
        does="the first query is aligned with the first key, not the last with the last",
        says=(
            "A square mask is right. With more keys than queries, {does}, so the queries do not see the keys in front "
            "of them."
        ),
        hints=["With 1 query and 3 keys, the query stands at the last key. How many keys may it attend to?"],
    ),
    Mistake(
        "numbers_turned_round",
        STEPS.but(allowed=lambda n_query, columns, past: ~torch.ones(n_query, columns).triu(past + 1)),
        does="`~` is given a matrix of numbers",
        says="`~` turns booleans round, and here it is given numbers: it crashes. Look at the dtype of the matrix.",
        hints=["Print `.dtype` of what stands behind `~`."],
    ),
    mask_mistakes.not_itself(STEPS.but(allowed=lambda matrix, past: matrix.tril(past - 1))),
]
