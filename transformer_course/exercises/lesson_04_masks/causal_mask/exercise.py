"""Which keys each query may attend to where none may attend ahead."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_04_masks.causal_mask.answer import STEPS, causal_mask
from transformer_course.exercises.lesson_04_masks.causal_mask.mistakes import MISTAKES
from transformer_course.exercises.shared import mask_mistakes
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


def causal_mask_cases(seed: int) -> list[Case]:
    short, middle, long = torch.randint(4, 40, (3,), generator=generator(seed)).sort().values.tolist()
    lengths = [3, 1, 2, short, middle + 1, long + 130]  # no two alike, and one longer than a table made in advance
    square = [Case({"n_query": n}, f"{n} position{'s' if n > 1 else ''}") for n in lengths]
    sizes = [(1, 3), (2, 5), (short, short + 7), (middle, middle + long)]
    later = [Case({"n_query": n, "n_key": m}, f"{n} quer{'ies' if n > 1 else 'y'} and {m} keys") for n, m in sizes]
    return square[:3] + later[:2] + square[3:5] + later[2:] + square[5:]


CAUSAL_MASK = Exercise(
    reference=causal_mask,
    steps=STEPS,
    cases=causal_mask_cases,
    points=2,
    verified="Each row may attend to its own position and all before it. With more keys than queries, the last query "
    "stands at the last key.",
    hints=[
        "Write the mask for 3 positions by hand. Row i is a query, column j a key. Which of the nine are True?",
        "The mask of 2 queries and 5 keys is the last two rows of the mask of 5 positions. So at which position does "
        "the first query stand?",
        "Take a matrix of True, `torch.ones(n_query, n_key, dtype=torch.bool)`, and keep its lower triangle with "
        "`.tril()`, whose argument is the number of diagonals above the main one that stay. Or compare positions: "
        "query i stands at i + n_key - n_query.",
    ],
    told={
        "inverted_mask": mask_mistakes.INVERTED,
        "always_one_columns: n_key": (
            "`n_key` is used as it comes in. It is None where nobody gives it, and then there are as many keys as "
            "queries."
        ),
        "sibling_allowed": (
            "The first row is True everywhere: the first position sees the whole future, and the last one "
            "only itself. Rows and columns seem to have changed places."
        ),
    },
    mistakes=MISTAKES,
)
