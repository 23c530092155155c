"""Add a learned number for every distance."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.shared.draw_cases import generator, normal
from transformer_lab.course.running.case import Case


def relative_bias(
    table: Float[Tensor, "n_heads n_offsets"], n_query: int, n_key: int
) -> Float[Tensor, "n_heads n_query n_key"]:
    """Look up each head's bias for the offset from query to key; offsets beyond the table take its last entries."""
    reach = table.shape[1] // 2
    queries = torch.arange(n_key - n_query, n_key)
    offsets = torch.arange(n_key) - queries[:, None]
    return table[:, offsets.clamp(-reach, reach) + reach]


def relative_bias_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_heads: int, reach: int, n_query: int, n_key: int, shows: str) -> Case:
        return Case({"table": normal(rng, n_heads, 2 * reach + 1), "n_query": n_query, "n_key": n_key}, shows)

    return [
        case(1, 1, 2, 2, "one head that knows the offsets −1, 0, 1; 2 queries that are the 2 keys"),
        case(2, 2, 3, 3, "2 heads, offsets −2 to 2, 3 queries that are the 3 keys"),
        case(2, 2, 5, 7, "2 heads, offsets −2 to 2, 5 queries at the end of 7 keys"),
        case(3, 4, 11, 13, "3 heads, offsets −4 to 4, 11 queries at the end of 13 keys"),
    ]


def _look_up(table, offsets):
    reach = table.shape[1] // 2
    return table[:, offsets.clamp(-reach, reach) + reach]


def _offsets(n_query, n_key):
    return torch.arange(n_key) - torch.arange(n_key - n_query, n_key)[:, None]


def looks_from_key_to_query(table, n_query, n_key):
    return _look_up(table, -_offsets(n_query, n_key))


def first_query_at_the_first_key(table, n_query, n_key):
    return _look_up(table, torch.arange(n_key) - torch.arange(n_query)[:, None])


def begins_at_the_wrong_end(table, n_query, n_key):
    reach = table.shape[1] // 2
    return table[:, _offsets(n_query, n_key).clamp(-reach, reach)]


def distance_without_direction(table, n_query, n_key):
    return _look_up(table, _offsets(n_query, n_key).abs())


def nothing_beyond_the_table(table, n_query, n_key):
    offsets = _offsets(n_query, n_key)
    return _look_up(table, offsets) * (offsets.abs() <= table.shape[1] // 2)


def runs_off_the_table(table, n_query, n_key):
    return table[:, _offsets(n_query, n_key) + table.shape[1] // 2]


def wraps_around(table, n_query, n_key):
    return table[:, (_offsets(n_query, n_key) + table.shape[1] // 2) % table.shape[1]]


def heads_last(table, n_query, n_key):
    return relative_bias(table, n_query, n_key).permute(1, 2, 0)


RELATIVE_BIAS = Exercise(
    reference=relative_bias,
    cases=relative_bias_cases,
    points=2,
    stretch=True,
    verified="Every offset has its own learned number, in every head, and far ones share the last. The model T5 "
    "does it so, with wider and wider buckets for far offsets.",
    hints=[
        "Make the table of offsets first, key minus query, of shape (n_query, n_key). The queries stand at the end of "
        "the keys, as in `alibi_bias`.",
        "An offset of −reach should find column 0 of the table, and 0 the middle column: add reach. Before that, "
        "`clamp(-reach, reach)` brings the far ones in.",
        "A table of whole numbers as an index looks them all up at once: `table[:, columns]` has the shape (n_heads, "
        "n_query, n_key).",
    ],
    mistakes=[
        Mistake(
            "looks_from_key_to_query",
            [looks_from_key_to_query],
            says="Left and right are exchanged: a key before its query finds the entry for a key after it.",
            hints=[
                "A key at 3 and a query at 5: what is the offset from query to key?",
                "It is −2: key minus query.",
                "Turn the subtraction round.",
            ],
        ),
        Mistake(
            "first_query_at_the_first_key",
            [first_query_at_the_first_key],
            says="The first query is put at the first key. As in `alibi_bias`, the *last* ones should meet.",
            hints=[
                "With 2 queries and 5 keys, at which positions are the queries?",
                "The queries' positions end at n_key − 1.",
                "They are `torch.arange(n_key - n_query, n_key)`.",
            ],
        ),
        Mistake(
            "begins_at_the_wrong_end",
            [begins_at_the_wrong_end],
            says=(
                "Offset 0 finds column 0 of the table, and negative offsets are counted from its end. Column 0 belongs to "
                "the smallest offset."
            ),
            hints=[
                "Which column belongs to the offset −reach? Which to 0?",
                "Python counts negative indices from the end, without a complaint.",
                "Add reach to the offsets, after clamping.",
            ],
        ),
        Mistake(
            "distance_without_direction",
            [distance_without_direction],
            says="A key before and a key after the query get the same bias: the direction is lost.",
            hints=[
                "The table has 2 · reach + 1 columns: why so many?",
                "Left and right have columns of their own.",
                "Leave `.abs()` out.",
            ],
        ),
        Mistake(
            "nothing_beyond_the_table",
            [nothing_beyond_the_table],
            says="Offsets beyond the table get no bias at all. They should take the last entry on their side.",
            hints=[
                "What should an offset of 5 find in a table that ends at 4?",
                "`clamp(-reach, reach)` makes a 5 a 4.",
                "Clamp the offsets, and set nothing to 0.",
            ],
        ),
        Mistake(
            "runs_off_the_table",
            [runs_off_the_table, wraps_around],
            says=(
                "Offsets that are not in the table are looked up all the same: they run off one end, or come back in at "
                "the other."
            ),
            hints=[
                "How large can an offset get, and how many columns are there?",
                "Everything beyond the last column should find the last column.",
                "`clamp(-reach, reach)` before the lookup.",
            ],
        ),
        Mistake(
            "heads_last",
            [heads_last],
            says="The heads are the last axis; they should be the first.",
            hints=[
                "What shape is asked for?",
                "`table[:, columns]` keeps the heads in front.",
                "Heads, queries, keys: in this order.",
            ],
        ),
    ],
)
