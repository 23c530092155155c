"""What goes wrong when neighbours are counted."""

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
        "one_token_between",
        STEPS.but(firsts=lambda ids: ids[:-2], seconds=lambda ids: ids[2:]),
        does="each token is paired with the one after the next",
        says="{does}. Neighbours stand side by side, with none between them. Look at where the second ones begin.",
        hints=["Which pairs does the text 0, 1, 2 have?"],
    ),
    Mistake(
        "both_orders",
        STEPS.but(table=lambda table: table + table.mT),
        does="each pair counts in both orders",
        says="The table is symmetric: {does}. `th` and `ht` are two pairs.",
        hints=["Write the table for the tokens 0, 1 by hand. How many entries are not 0?"],
    ),
    Mistake(
        "whether_not_how_often",
        STEPS.but(table=lambda table: table.clamp(max=1)),
        does="a pair counts once, however often it occurs",
        says="Every entry is 0 or 1: {does}. With a tensor of indices, `+=` adds once for each *place*, not each time.",
        hints=["What does `x = torch.zeros(2); x[[0, 0]] += 1` leave in `x`?"],
    ),
    Mistake(
        "an_end_left_out",
        STEPS.but(firsts=lambda ids: ids[:-2], seconds=lambda ids: ids[1:-1]),
        STEPS.but(firsts=lambda ids: ids[1:-1], seconds=lambda ids: ids[2:]),
        does="the pair at one end of the text is left out",
        says="{does}. A text of n tokens has n − 1 pairs: look at where the loop begins and ends.",
    ),
]
