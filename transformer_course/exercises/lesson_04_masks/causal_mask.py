"""Which keys each query may attend to where none may attend ahead."""

import torch
from jaxtyping import Bool
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import mask_mistakes
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def causal_mask(n_query: int, n_key: int | None = None) -> Bool[Tensor, "n_query n_key"]:
    """Let every query attend to the keys that do not come later; the last query stands at the last key."""
    n_key = n_query if n_key is None else n_key
    past = n_key - n_query  # keys in front of the first query
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(past)


def columns(n_query, n_key):
    """count the keys → the number of keys: `n_key`, or `n_query` where that is None"""
    return n_query if n_key is None else n_key


def past(n_query, columns):
    """count the keys before the first query → the number of keys before the first query: n_key − n_query"""
    return columns - n_query


def matrix(n_query, columns):
    """make a matrix of True → a matrix of True: a row for each query, a column for each key"""
    return torch.ones(n_query, columns, dtype=torch.bool)


def allowed(matrix, past):
    """keep what lies on and below that diagonal → the keys that do not come later: j ≤ i + n_key − n_query"""
    return matrix.tril(past)


def mask(allowed):
    """leave the matrix as it is: two axes of True and False → the mask: that matrix, as it is"""
    return allowed


STEPS = InSteps(columns, past, matrix, allowed, mask, reference=causal_mask)


def causal_mask_cases(seed: int) -> list[Case]:
    short, middle, long = torch.randint(4, 40, (3,), generator=generator(seed)).sort().values.tolist()
    lengths = [3, 1, 2, short, middle + 1, long + 130]  # no two alike, and one longer than a table made in advance
    square = [Case({"n_query": n}, f"{n} position{'s' if n > 1 else ''}") for n in lengths]
    sizes = [(1, 3), (2, 5), (short, short + 7), (middle, middle + long)]
    later = [Case({"n_query": n, "n_key": m}, f"{n} quer{'ies' if n > 1 else 'y'} and {m} keys") for n, m in sizes]
    return square[:3] + later[:2] + square[3:5] + later[2:] + square[5:]


MISTAKES = [
    Mistake(
        "numbers_turned_round",
        STEPS.but(allowed=lambda n_query, columns, past: ~torch.ones(n_query, columns).triu(past + 1)),
        summary="`~` is given a matrix of numbers",
        message="`~` turns booleans round, and here it is given numbers: it crashes. Look at the dtype of the matrix.",
        hints=["Print `.dtype` of what stands behind `~`."],
    ),
]


EXERCISE = Exercise(
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
    messages={
        "wrong_input_past": Wording(
            "A square mask is right. With more keys than queries, {summary}, so the queries do not see the keys in "
            "front of them.",
            summary="the first query is aligned with the first key, not the last with the last",
            hints=["With 1 query and 3 keys, the query stands at the last key. How many keys may it attend to?"],
        ),
        "shifted_past: § - 1": mask_mistakes.NOT_ITSELF,
        "inverted_mask": mask_mistakes.INVERTED_MESSAGE,
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
