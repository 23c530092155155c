"""What goes wrong when rows are sorted for RoPE."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_11_modern_block.pairs_from_halves.answer import STEPS

MISTAKES = [
    Mistake(
        "halves_from_pairs",
        STEPS.but(halves=lambda heads, d_k: heads.unflatten(1, (d_k // 2, 2))),
        does="neighbours are moved apart, into two halves: that is the way back",
        says="{does}. With 4 rows to a head both ways are alike, with 6 they are not. Look at the axis that is cut.",
        hints=["Of the rows 0 1 2 3 4 5, which is the partner of row 0 in the file? Is it the second row of yours?"],
    ),
    Mistake(
        "one_head",
        STEPS.but(heads=lambda weight: weight[None], halves=lambda heads: heads.unflatten(1, (2, heads.shape[1] // 2))),
        does="the halves are those of the whole matrix, not those of each head",
        says="One head is right. With more, {does}. Look for what `d_k` is good for.",
        hints=["With 2 heads of 4 rows, which row is the partner of row 0: the 2 or the 4?"],
    ),
    Mistake(
        "columns",
        STEPS.but(
            heads=lambda weight, d_k: weight.mT.unflatten(0, (-1, d_k)), rows=lambda pairs: pairs.flatten(0, 2).mT
        ),
        does="the columns are sorted, and not the rows",
        says="{does}. A linear layer's weight is (d_out, d_in): what comes out of it, a query, is counted by the rows.",
        hints=["Which axis of `weight` has the features of the query, and which those of the stream?"],
    ),
    Mistake(
        "second_half_first",
        STEPS.but(halves=lambda halves: halves.flip(1)),
        does="in each pair, the row of the second half comes first",
        says="{does}. Row i of the file becomes row 2i, and its partner row 2i + 1.",
    ),
]
