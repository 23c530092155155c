"""What goes wrong when a causal mask is made."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_04_masks.causal_mask.answer import STEPS
from transformer_course.exercises.shared import mask_mistakes

MISTAKES = [
    Mistake(
        "only_itself",
        STEPS.but(allowed=lambda table: table.tril().triu()),
        does="only the diagonal is kept",
        says="Every position sees itself and nothing else. It may also look at all that came before.",
        hints=["The last position has everything before it. What should its row look like?"],
    ),
    Mistake(
        "numbers_turned_round",
        STEPS.but(allowed=lambda length: ~torch.ones(length, length).triu(1)),
        does="`~` is given a table of numbers",
        says="`~` turns booleans round, and here it is given numbers: it crashes. Look at the dtype of the table.",
        hints=["Print `.dtype` of what stands behind `~`."],
    ),
    mask_mistakes.to_be_added(STEPS),
    Mistake(
        "no_pairs",
        STEPS.but(mask=lambda length: torch.ones(length, dtype=torch.bool)),
        does="every position is compared with itself only",
        says="{does}: one row of entries, and all of them True. Every query has to be compared with every key.",
        hints=["What shape does the comparison have? Which is asked for?"],
    ),
    mask_mistakes.a_list(STEPS),
]
