"""The causal mask: no query may attend to a later key."""

import torch
from jaxtyping import Bool
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared import mask_mistakes
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def causal_mask(n_query: int, n_key: int | None = None) -> Bool[Tensor, "n_query n_key"]:
    """Let every query attend to the keys up to its own position. The last query is at the last key."""
    n_key = n_query if n_key is None else n_key
    past = n_key - n_query  # the number of keys before the first query
    return torch.ones(n_query, n_key, dtype=torch.bool).tril(past)


def columns(n_query, n_key):
    """count the keys → the number of keys: `n_key`, or `n_query` if `n_key` is None"""
    return n_query if n_key is None else n_key


def past(n_query, columns):
    """count the keys before the first query → the number of earlier keys: n_key − n_query"""
    return columns - n_query


def matrix(n_query, columns):
    """create a matrix of True values → the matrix of True values: one row per query, one column per key"""
    return torch.ones(n_query, columns, dtype=torch.bool)


def allowed(matrix, past):
    """keep the lower triangle → the keys that don't come later: j ≤ i + n_key − n_query"""
    return matrix.tril(past)


def mask(allowed):
    """return a boolean matrix → the mask: a boolean matrix, (n_query, n_key)"""
    return allowed


STEPS = InSteps(columns, past, matrix, allowed, mask, reference=causal_mask)


def causal_mask_cases(seed: int) -> list[Case]:
    short, middle, long = torch.randint(4, 40, (3,), generator=generator(seed)).sort().values.tolist()
    # different sizes, some of them larger than a mask that an answer might precompute
    lengths = [3, 1, 2, short, middle + 1, long + 130]
    square = [Case({"n_query": n}, f"{n} position{'s' if n > 1 else ''}") for n in lengths]
    sizes = [(1, 3), (2, 5), (short, short + 7), (middle, middle + long)]
    later = [Case({"n_query": n, "n_key": m}, f"{n} quer{'ies' if n > 1 else 'y'} and {m} keys") for n, m in sizes]
    return square[:3] + later[:2] + square[3:5] + later[2:] + square[5:]


MISTAKES = [
    Mistake(
        "numbers_turned_round",
        STEPS.but(allowed=lambda n_query, columns, past: ~torch.ones(n_query, columns).triu(past + 1)),
        summary="you apply `~` to a matrix of floats",
        message=(
            "{summary}, but `~` inverts only booleans, so your code crashes. Which argument of `torch.ones` gives a "
            "boolean matrix?"
        ),
        hints=["What is `torch.ones(2, 2).dtype`?"],
    ),
]


EXERCISE = Exercise(
    reference=causal_mask,
    steps=STEPS,
    cases=causal_mask_cases,
    points=2,
    verified=(
        "Each position may attend to itself and to everything before it. With more keys than queries, the last query "
        "is lined up with the last key."
    ),
    hints=[
        "Write the mask for 3 positions by hand: row i is a query, column j is a key. Which of the nine entries are "
        "True?",
        "The mask for 2 queries and 5 keys is the last two rows of the mask for 5 positions. What is the position of "
        "the first query, then?",
        "Make a matrix of True, `torch.ones(n_query, n_key, dtype=torch.bool)`, and keep its lower triangle with "
        "`.tril(k)`, where k is the number of diagonals to keep above the main diagonal. Or compare positions: query i "
        "has position i + n_key − n_query.",
    ],
    messages={
        "shifted_past: § + 1": mask_mistakes.THE_NEXT_TOO,
        "additive_mask": mask_mistakes.ADDED_TO_THE_SCORES,
        "option_left_out_matrix: torch.ones(n_query, columns)": mask_mistakes.OF_FLOATS,
        "wrong_input_past": Wording(
            "Your mask is right if it is square. With 2 queries and 5 keys, {summary}. The first query can then attend "
            "only to key 0 instead of keys 0 to 3.",
            summary="you line up the first query with the first key instead of the last query with the last key",
            hints=["With 1 query and 3 keys, the query is at the last key. How many keys may it attend to?"],
        ),
        "shifted_past: § - 1": mask_mistakes.NOT_ITSELF,
        "inverted_mask": mask_mistakes.INVERTED,
        "always_one_columns: n_key": Wording(
            "You use `n_key` even when it is None, so `causal_mask(3)` crashes. Without `n_key`, there are n_query "
            "keys. Where should you handle that case?",
            summary="you don't handle `n_key=None`",
            hints=["What is the value of `n_key` in `causal_mask(3)`? How many keys should there be?"],
        ),
        "sibling_allowed": Wording(
            "You keep the upper triangle, so the first position can attend to all later positions, and the last "
            "position only to itself. Are the queries the rows or the columns of the mask?",
            summary="you keep the upper triangle instead of the lower one",
            hints=["For 3 positions, what should the first row of the mask be? What is yours?"],
        ),
    },
    mistakes=MISTAKES,
)
