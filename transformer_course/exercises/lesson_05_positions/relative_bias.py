"""A learned bias for every relative position."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.lesson_05_positions.shared.position_mistakes import position_mistakes
from transformer_course.exercises.lesson_05_positions.shared.steps import keys, queries
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def relative_bias(
    table: Float[Tensor, "n_heads n_offsets"], n_query: int, n_key: int
) -> Float[Tensor, "n_heads n_query n_key"]:
    """Look up each head's bias for the offset from query to key; an offset beyond the table takes the nearest entry."""
    reach = table.shape[1] // 2
    queries = torch.arange(n_key - n_query, n_key)
    offsets = torch.arange(n_key) - queries[:, None]
    return table[:, offsets.clamp(-reach, reach) + reach]


def reach(table):
    """find the largest offset in the table → the largest offset in the table"""
    return table.shape[1] // 2


def offsets(queries, keys):
    """subtract each query position from each key position → the offsets from query to key, (n_query, n_key)"""
    return keys - queries[:, None]


def clamped(offsets, reach):
    """clamp the offsets to the range of the table → the clamped offsets"""
    return offsets.clamp(-reach, reach)


def columns(clamped, reach):
    """add the largest offset to the clamped offsets → the columns of the table: clamped offset plus reach"""
    return clamped + reach


def bias(table, columns):
    """look up the columns in the table → the biases: the entries in these columns"""
    return table[:, columns]


STEPS = InSteps(reach, queries, keys, offsets, clamped, columns, bias, reference=relative_bias)


def relative_bias_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n_heads: int, reach: int, n_query: int, n_key: int, shows: str) -> Case:
        return Case({"table": normal(rng, n_heads, 2 * reach + 1), "n_query": n_query, "n_key": n_key}, shows)

    return [
        case(1, 1, 2, 2, "one head, offsets −1 to 1, 2 queries and 2 keys"),
        case(1, 1, 1, 4, "one head, offsets −1 to 1, 1 query at the end of 4 keys"),
        case(1, 3, 2, 3, "one head, offsets −3 to 3, 2 queries at the end of 3 keys"),
        case(2, 1, 4, 4, "2 heads, offsets −1 to 1, 4 queries and 4 keys"),
        case(2, 2, 5, 7, "2 heads, offsets −2 to 2, 5 queries at the end of 7 keys"),
        case(3, 4, 11, 13, "3 heads, offsets −4 to 4, 11 queries at the end of 13 keys"),
    ]


MISTAKES = [
    Mistake(
        "clamps_to_other_bounds",
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(0, reach)),
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(-reach, reach - 1)),
        summary="you clamp some offsets that the table still covers",
        message=(
            "{summary}, so they get the entry of another offset. Which offsets do the first and last columns of the "
            "table hold?"
        ),
        hints=["A table covers the offsets −2 … 2. What should clamping do to −1, to 2 and to 3?"],
    ),
    Mistake(
        "nothing_beyond_the_table",
        STEPS.but(bias=lambda bias, offsets, reach: bias * (offsets.abs() <= reach)),
        summary="you set the bias to 0 for offsets beyond the table",
        message=(
            "{summary}. They should share the last entry on their side: in a table for −1 … 1, an offset of −3 gets "
            "the entry for −1. Do these offsets need a separate case after the clamp?"
        ),
        hints=["Which entry should an offset of 5 get from a table that ends at 4?"],
    ),
    Mistake(
        "hides_what_is_beyond_the_table",
        STEPS.but(bias=lambda bias, offsets, reach: bias.masked_fill(offsets.abs() > reach, -torch.inf)),
        summary="you set the bias to −∞ for offsets beyond the table",
        message=(
            "{summary}, which hides these keys. They should share the last entry on their side: in a table for −1 … 1, "
            "an offset of −3 gets the entry for −1. What does `clamp` do to such an offset?"
        ),
        hints=["Which entry should an offset of 5 get from a table that ends at 4?"],
    ),
    Mistake(
        "hides_the_future",
        STEPS.but(bias=lambda bias, offsets: bias.masked_fill(offsets > 0, -torch.inf)),
        summary="you set the bias of keys after the query to −∞",
        message=(
            "{summary}, but the table has entries for those keys. Hiding keys is the mask's job. What bias does the "
            "table give the next key?"
        ),
        hints=["Which offsets do the columns to the right of the middle column hold?"],
    ),
    Mistake(
        "wraps_around",
        STEPS.but(columns=lambda offsets, reach, table: (offsets + reach) % table.shape[1]),
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(max=reach)),
        summary="your offsets beyond the table wrap around to its other end",
        message=(
            "{summary}: in a table for −1 … 1, an offset of −2 gets the entry for 1. Which entry should all offsets "
            "below −reach share?"
        ),
        hints=[
            "A negative index counts from the end. Which column does your code compute for an offset of −reach − 1?"
        ],
    ),
]


EXERCISE = Exercise(
    reference=relative_bias,
    steps=STEPS,
    cases=relative_bias_cases,
    points=2,
    stretch=True,
    verified=(
        "Every head has a learned number for each offset, and all offsets beyond the table share the last number on "
        "their side. T5 does the same, with buckets that get wider for larger offsets."
    ),
    hints=[
        "Take 2 queries at the end of 3 keys. What is each offset, key position minus query position?",
        "Compute a table of offsets, of shape (n_query, n_key). As in `alibi_bias`, the last query lines up with "
        "the last key.",
        "Offset −reach should map to column 0 of the table and offset 0 to the middle column, so add reach. Before "
        "that, `clamp(-reach, reach)` limits the offsets to what the table covers.",
        "Indexing with a tensor of integers looks up all columns at once: `table[:, columns]` has shape (n_heads, "
        "n_query, n_key).",
    ],
    messages={
        "order_offsets": Wording(
            "{summary}, so keys before the query get the entries for keys after it. What is the offset from a query at "
            "position 3 to a key at position 1?",
            summary="you compute query position minus key position instead of the reverse",
            hints=[
                "In a table for −1 … 1, which column should a key just before the query get? Which column does it get "
                "in your code?"
            ],
        ),
        "part_left_out_columns: clamped": Wording(
            "You use the offset itself as the column, so offset 0 gets the first column instead of the middle one, and "
            "negative offsets count from the end of the table. Which number turns the offset −reach into column 0?",
            summary="you don't add reach to the clamped offsets",
            hints=["In a table for −1 … 1, which column should offset 0 get? Which column does it get in your code?"],
        ),
        "call_left_out_clamped": Wording(
            "{summary}, so your code crashes for offsets beyond the table, or reads an entry from the other end of the "
            "table. Which entry should these offsets share?",
            summary="you don't clamp the offsets to the range of the table",
            hints=["Which entry should an offset of 5 get from a table that ends at 4?"],
        ),
        "shifted_reach: § - 1": (
            Wording(
                "Your reach is too small by 1, so you never use the last two columns of the table. Which offsets does "
                "a table with 5 columns cover?",
                summary="your reach is too small by 1",
                hints=["In a table with 5 columns, which offset does the last column hold?"],
            )
        ),
        "moved_clamped: columns": (
            Wording(
                "You apply the bounds −reach and reach to the column indices, so every key after the query gets the "
                "entry for offset 0. Should you clamp before or after you add reach?",
                summary="you clamp the column indices instead of the offsets",
                hints=[
                    "In a table for −1 … 1, the columns are 0, 1 and 2. What does `clamp(-1, 1)` turn these numbers "
                    "into?",
                ],
            )
        ),
        "operator_columns: (clamped) - (reach)": (
            Wording(
                "You subtract reach instead of adding it, so your column indices count from the end of the table and "
                "offset 0 gets the entry for offset 1. Which number turns the offset −reach into column 0?",
                summary="you subtract reach instead of adding it",
                hints=[
                    "In a table for −1 … 1, which column should offset −1 get? Which column does your code compute?"
                ],
            )
        ),
        "done_again_columns: offsets": (
            Wording(
                "You give offset 0 the last column of the table, so all keys after the query share that column. Offset "
                "0 should get the middle column. How many times do you add reach?",
                summary="you add reach twice",
                hints=[
                    "In a table for −1 … 1, what does your code compute for the offset 0, before the clamp and after "
                    "it?",
                ],
            )
        ),
    },
    mistakes=[*MISTAKES, *position_mistakes(STEPS)],
)
