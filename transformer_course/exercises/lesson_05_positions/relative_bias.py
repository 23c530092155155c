"""Add a learned number for every distance."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.lesson_05_positions.shared.position_mistakes import position_mistakes
from transformer_course.exercises.lesson_05_positions.shared.steps import keys, queries
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def relative_bias(
    table: Float[Tensor, "n_heads n_offsets"], n_query: int, n_key: int
) -> Float[Tensor, "n_heads n_query n_key"]:
    """Look up each head's bias for the offset from query to key; offsets beyond the table take its last entries."""
    reach = table.shape[1] // 2
    queries = torch.arange(n_key - n_query, n_key)
    offsets = torch.arange(n_key) - queries[:, None]
    return table[:, offsets.clamp(-reach, reach) + reach]


def reach(table):
    """find the largest offset in the table → the largest offset in the table"""
    return table.shape[1] // 2


def offsets(queries, keys):
    """subtract the position of each query from that of each key → the offsets from query to key, (n_query, n_key)"""
    return keys - queries[:, None]


def clamped(offsets, reach):
    """bring offsets beyond the table to its ends → the offsets, brought to the ends of the table"""
    return offsets.clamp(-reach, reach)


def columns(clamped, reach):
    """add the reach, so that the smallest offset finds column 0 → the columns of the table: offset plus reach"""
    return clamped + reach


def bias(table, columns):
    """look these columns up → the biases that stand in these columns"""
    return table[:, columns]


STEPS = InSteps(reach, queries, keys, offsets, clamped, columns, bias, reference=relative_bias)


def relative_bias_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_heads: int, reach: int, n_query: int, n_key: int, shows: str) -> Case:
        return Case({"table": normal(rng, n_heads, 2 * reach + 1), "n_query": n_query, "n_key": n_key}, shows)

    return [
        case(1, 1, 2, 2, "one head that knows the offsets −1, 0, 1; 2 queries that are the 2 keys"),
        case(1, 1, 1, 4, "one head, offsets −1 to 1, the newest query and 4 keys"),
        case(1, 3, 2, 3, "one head, offsets −3 to 3, 2 queries at the end of 3 keys"),
        case(2, 1, 4, 4, "2 heads, offsets −1 to 1, 4 queries that are the 4 keys"),
        case(2, 2, 5, 7, "2 heads, offsets −2 to 2, 5 queries at the end of 7 keys"),
        case(3, 4, 11, 13, "3 heads, offsets −4 to 4, 11 queries at the end of 13 keys"),
    ]


MISTAKES = [
    Mistake(
        "clamps_to_other_bounds",
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(0, reach)),
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(-reach, reach - 1)),
        summary="the offsets are cut off at other bounds than −reach and reach",
        message=(
            "Offsets are cut off where the table still goes on: the bounds are not −reach and reach. Look at these two "
            "bounds."
        ),
        hints=["A table for the offsets −2 … 2: what should become of −1, of 2, and of 3?"],
    ),
    Mistake(
        "nothing_beyond_the_table",
        STEPS.but(bias=lambda bias, offsets, reach: bias * (offsets.abs() <= reach)),
        STEPS.but(bias=lambda bias, offsets, reach: bias.masked_fill(offsets.abs() > reach, -torch.inf)),
        summary="keys beyond the table do not take its last entry: they get 0, or are hidden",
        message="Offsets beyond the table get no entry of it at all. They should take the last one on their side.",
        hints=["What should an offset of 5 find in a table that ends at 4?"],
    ),
    Mistake(
        "hides_the_future",
        STEPS.but(bias=lambda bias, offsets: bias.masked_fill(offsets > 0, -torch.inf)),
        summary="keys after the query get no entry of the table",
        message="{summary}. It has columns for them; what may be seen at all is for a mask to say.",
        hints=["What is the right half of the table for?"],
    ),
]


EXERCISE = Exercise(
    reference=relative_bias,
    steps=STEPS,
    cases=relative_bias_cases,
    points=2,
    stretch=True,
    verified="Every offset has its own learned number, in every head, and far ones share the last. T5 does "
    "so too, with ever wider buckets for far offsets.",
    hints=[
        "Make the table of offsets first, key minus query, of shape (n_query, n_key). The queries stand at the end of "
        "the keys, as in `alibi_bias`.",
        "An offset of −reach should find column 0 of the table, and 0 the middle column: add reach. Before that, "
        "`clamp(-reach, reach)` brings the far ones in.",
        "A table of whole numbers as an index looks them all up at once: `table[:, columns]` has the shape (n_heads, "
        "n_query, n_key).",
    ],
    messages={
        "shifted_reach: § - 1": (
            "The reach is smaller than the largest offset in the table, so that the last columns are never used."
        ),
        "moved_clamped: columns": (
            "The bounds of offsets, −reach and reach, are applied to columns: half of the table is never "
            "used. Look at the order."
        ),
        "operator_columns: (clamped) - (reach)": (
            "The reach is subtracted: columns are then counted from the end of the table, and each offset "
            "finds the entry beside its own, or another one. Look at the sign."
        ),
        "done_again_columns: offsets": (
            "Offset 0 finds the last column of the table, so that all keys after the query share it. The "
            "middle one is its own."
        ),
    },
    mistakes=[*MISTAKES, *position_mistakes(STEPS)],
)
