"""What goes wrong when a bias is looked up by offset."""

import torch
from torch.nn import functional as F

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_05_positions.relative_bias.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result

MISTAKES = [
    Mistake(
        "looks_from_key_to_query",
        STEPS.but(offsets=lambda queries, keys: queries[:, None] - keys),
        does="the offsets are those from key to query, so that left and right are exchanged",
    ),
    Mistake(
        "distance_without_direction",
        STEPS.but(offsets=lambda offsets: offsets.abs()),
        STEPS.but(offsets=lambda offsets: -offsets.abs()),
        does="the offsets lose their direction",
        says="A key before and a key after the query get the same bias: the direction is lost.",
        hints=["The table has 2 · reach + 1 columns: why so many?"],
    ),
    Mistake(
        "offsets_off_by_one",
        STEPS.but(offsets=lambda offsets: offsets - 1),
        STEPS.but(offsets=lambda offsets: offsets + 1),
        does="every offset is one too small, or one too large",
    ),
    Mistake(
        "reach_too_large",
        STEPS.but(reach=lambda table: table.shape[1]),
        STEPS.but(reach=lambda table: table.shape[1] - 1),
        STEPS.but(reach=lambda table: table.shape[1] // 2 + 1),
        does="offset 0 does not find the middle column of the table",
        says=(
            "The reach is larger than the largest offset in the table, so that columns are looked up that it does "
            "not have."
        ),
        hints=["A table for the offsets −2 … 2 has 5 columns. What is the reach?"],
    ),
    Mistake(
        "reach_too_small",
        STEPS.but(reach=lambda table: table.shape[1] // 2 - 1),
        does="the reach is smaller than the largest offset in the table",
        says="{does}, so that the last columns are never used.",
        hints=["A table for the offsets −2 … 2 has 5 columns. What is the reach?"],
    ),
    Mistake(
        "reach_of_another_axis",
        STEPS.but(reach=lambda table: table.shape[0] // 2),
        STEPS.but(reach=lambda table: table.shape[0]),
        STEPS.but(reach=lambda n_key: n_key - 1),
        STEPS.but(reach=lambda n_key: n_key // 2),
        does="the reach is not taken from the columns of the table",
        says="The reach is taken from the number of heads, or of keys. It depends on the columns of the table alone.",
        hints=["Which axis of `table` counts the offsets?"],
    ),
    Mistake(
        "runs_off_the_table",
        STEPS.but(clamped=lambda offsets: offsets),
        STEPS.but(columns=lambda offsets, reach, table: (offsets + reach) % table.shape[1]),
        does="offsets beyond the table are not brought to its ends",
        says=(
            "Offsets that are not in the table are looked up all the same: they run off one end, or come back in at "
            "the other."
        ),
        hints=["How large can an offset get, and how many columns are there?"],
    ),
    Mistake(
        "clamps_one_side_only",
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(max=reach)),
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(min=-reach)),
        does="on one side, offsets beyond the table are not brought to its end",
    ),
    Mistake(
        "clamps_to_other_bounds",
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(0, reach)),
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(-reach, 0)),
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(-reach, reach - 1)),
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(1 - reach, reach - 1)),
        STEPS.but(clamped=lambda offsets, reach: offsets.clamp(0, 2 * reach)),
        does="the offsets are cut off at other bounds than −reach and reach",
        says=(
            "Offsets are cut off where the table still goes on: the bounds are not −reach and reach. Look at the "
            "`clamp`."
        ),
        hints=["A table for the offsets −2 … 2: what should become of −1, of 2, and of 3?"],
    ),
    Mistake(
        "clamps_after_adding",
        STEPS.but(columns=lambda offsets, reach: (offsets + reach).clamp(-reach, reach)),
        does="the bounds of offsets are applied to columns, after the reach was added",
        says=(
            "The bounds of offsets, −reach and reach, are applied to columns: half of the table is never used. Look "
            "at the order."
        ),
        hints=["Between which numbers are the offsets, and between which the columns?"],
    ),
    Mistake(
        "begins_at_the_wrong_end",
        STEPS.but(columns=lambda clamped: clamped),
        does="the reach is not added, so that offset 0 finds column 0",
    ),
    Mistake(
        "reach_subtracted",
        STEPS.but(columns=lambda clamped, reach: clamped - reach).attempt,
        does="the reach is subtracted from the offsets, not added",
        says=(
            "The reach is subtracted: columns are then counted from the end of the table, and each offset finds the "
            "entry beside its own, or another one. Look at the sign."
        ),
        hints=[
            "Which column should the smallest offset, −reach, find, and which does it find?",
            "A negative index counts from the end.",
            "`offsets.clamp(-reach, reach) + reach`.",
        ],
    ),
    Mistake(
        "columns_off_by_one",
        STEPS.but(columns=lambda columns: columns + 1),
        STEPS.but(columns=lambda columns: columns - 1),
        does="each offset finds the column beside its own",
    ),
    Mistake(
        "middle_at_the_last_column",
        STEPS.but(columns=lambda offsets, reach: (offsets + 2 * reach).clamp(0, 2 * reach)),
        does="offset 0 finds the last column",
        says=(
            "Offset 0 finds the last column of the table, so that all keys after the query share it. The middle one "
            "is its own."
        ),
        hints=["In a table for −2 … 2, which column is that of offset 0?"],
    ),
    Mistake(
        "nothing_beyond_the_table",
        STEPS.but(bias=lambda bias, offsets, reach: bias * (offsets.abs() <= reach)),
        STEPS.but(bias=lambda bias, offsets, reach: bias.masked_fill(offsets.abs() > reach, -torch.inf)),
        does="keys beyond the table do not take its last entry: they get 0, or are hidden",
        says="Offsets beyond the table get no entry of it at all. They should take the last one on their side.",
        hints=["What should an offset of 5 find in a table that ends at 4?"],
    ),
    Mistake(
        "hides_the_future",
        STEPS.but(bias=lambda bias, offsets: bias.masked_fill(offsets > 0, -torch.inf)),
        STEPS.but(bias=lambda bias, offsets: bias * (offsets <= 0)),
        does="keys after the query get no entry of the table",
        says="{does}. It has columns for them; what may be seen at all is for a mask to say.",
        hints=["What is the right half of the table for?"],
    ),
    Mistake(
        "rows_of_the_table",
        STEPS.but(bias=lambda table, columns: table[columns]),
        STEPS.but(bias=lambda table, columns: F.embedding(columns, table)),
        does="rows of the table are looked up and not columns",
        says="Rows of the table are looked up, which are its heads. The offsets count its columns.",
        hints=["What shape has the table, and which axis are the offsets?"],
    ),
    Mistake(
        "gathers",
        STEPS.but(bias=lambda table, columns: table.gather(1, columns)),
        does="`gather` is asked for the columns",
        says=(
            "`gather` wants an index with a row for each row of the table, and crashes. The same columns are needed "
            "in all rows."
        ),
        hints=["What shape has the index, and what shape has the table?"],
    ),
    Mistake(
        "heads_last",
        STEPS.but(bias=lambda bias: bias.permute(1, 2, 0)),
        STEPS.but(bias=lambda bias: bias.transpose(0, 1)),
        does="the heads are not the first axis",
        says="{does}; they should be.",
        hints=["What shape is asked for?"],
    ),
    Mistake(
        "one_table_for_all_heads",
        STEPS.but(bias=lambda bias: bias[0]),
        STEPS.but(bias=lambda bias: bias.sum(0)),
        STEPS.but(bias=lambda bias: bias.mean(0)),
        does="there is one table in place of one for each head",
        says="{does}. The heads should stay apart, on the first axis.",
        hints=["What shape is asked for?"],
    ),
    Mistake(
        "the_same_row_for_all_heads",
        STEPS.but(table=lambda table: table[:1].expand_as(table)),
        STEPS.but(table=lambda table: table.mean(dim=0).expand_as(table)).attempt,
        does="all heads get the numbers of one row of the table",
        says="{does}. Each head has a row of its own. Look at what is indexed.",
        hints=["What does the first axis of the table stand for?"],
    ),
    *of_the_result(STEPS, "result_transposed", "only_the_first_result"),
]
