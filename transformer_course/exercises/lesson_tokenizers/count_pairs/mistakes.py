"""What goes wrong when neighbours are counted."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_tokenizers.count_pairs.answer import STEPS

MISTAKES = [
    Mistake(
        "disjoint_pairs",
        STEPS.but(firsts=lambda ids: ids[: len(ids) // 2 * 2 : 2], seconds=lambda ids: ids[1::2]),
        does="the text is cut into pairs, so that only every second neighbourhood counts",
        says="{does}. The last token of one pair and the first of the next are neighbours, too.",
        hints=["How many pairs of neighbours has a text of 4 tokens?"],
    ),
    Mistake(
        "both_orders",
        STEPS.but(table=lambda table: table + table.mT),
        does="each pair counts in both orders",
        says="The table is symmetric: {does}. `th` and `ht` are two pairs.",
        hints=["Write the table for the tokens 0, 1 by hand. How many entries are not 0?"],
    ),
    Mistake(
        "rows_are_the_second",
        STEPS.but(table=lambda table: table.mT),
        does="the rows belong to the *second* token of a pair",
        says="Rows and columns have changed places: {does}.",
        hints=["After the tokens 0, 1: which entry should be 1, `counts[0, 1]` or `counts[1, 0]`?"],
    ),
    Mistake(
        "whether_not_how_often",
        STEPS.but(table=lambda table: table.clamp(max=1)),
        does="a pair counts once, however often it occurs",
        says="Every entry is 0 or 1: {does}. With a tensor of indices, `+=` adds once for each *place*, not each time.",
        hints=["What does `x = torch.zeros(2); x[[0, 0]] += 1` leave in `x`?"],
    ),
    Mistake(
        "frequencies",
        STEPS.but(table=lambda table: table / table.sum()),
        does="the counts are divided by their sum",
    ),
    Mistake(
        "only_the_pairs_that_occur",
        STEPS.but(table=lambda numbers: torch.unique(numbers, return_counts=True)[1]).attempt,
        says="Only the pairs that occur are counted. The table should have an entry for *every* possible pair.",
        hints=[
            "How many rows and columns should the table have?",
            "`torch.bincount(numbers, minlength=…)` has a 0 for what does not occur.",
            "The numbers go up to vocab_size² − 1.",
        ],
    ),
]
