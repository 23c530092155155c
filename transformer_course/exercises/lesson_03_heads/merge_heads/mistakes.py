"""What goes wrong when heads are put side by side again."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.merge_heads.answer import STEPS

MISTAKES = [
    Mistake(
        "views_the_transposed",
        STEPS.but(merged=lambda x, swapped, n, d_model: swapped.view(len(x), n, d_model)),
        does="`view` is asked of a transposed tensor",
        says=(
            "The two steps are right, but `view` refuses: after a transposition the numbers no longer lie in memory in "
            "the order in which `view` would read them. Look at what was said about `contiguous`."
        ),
        hints=["Which of the two steps crashes, and what does the error message advise?"],
    ),
    Mistake(
        "takes_heads_for_positions",
        STEPS.but(merged=lambda x, swapped: swapped.reshape(len(x), x.shape[1], -1)),
        does="the number of heads is taken for that of positions",
        says=(
            "The result has as many rows as there were heads. There should be one for each position. Right only where "
            "the two numbers are equal. Look at where the length of the result is taken from."
        ),
        hints=["x comes with the shape (batch, n_heads, n, d_k). Which number of it is taken for the positions?"],
    ),
    Mistake(
        "heads_in_a_queue",
        STEPS.but(merged=lambda x: x.flatten(1, 2)),
        does="the heads are joined along the positions, one behind the other",
        says=(
            "The heads stand one behind the other, as if they were further positions: n_heads · n of them, d_k wide. "
            "They should stand side by side. Look at which axes are merged."
        ),
        hints=["The shape asked for is (batch, n, n_heads · d_k). Which is it now?"],
    ),
    Mistake(
        "everything_in_one_row",
        STEPS.but(merged=lambda swapped: swapped.flatten(1)),
        does="each sentence becomes a single row",
        says=(
            "Positions, heads and features have become one axis: a single row for each sentence. Look at which axes "
            "are merged."
        ),
        hints=["The shape asked for is (batch, n, n_heads · d_k). Which is it now?"],
    ),
    Mistake(
        "merges_the_wrong_neighbours",
        STEPS.but(merged=lambda swapped: swapped.flatten(1, 2)),
        does="positions and heads are made one axis",
        says=(
            "The wrong two axes are merged: positions and heads have become one axis, and the features are as narrow "
            "as before. Look at which axes the merging names."
        ),
        hints=["The shape asked for is (batch, n, n_heads · d_k). Which is it now?"],
    ),
    Mistake(
        "sum_of_the_heads",
        STEPS.but(merged=lambda x: x.sum(dim=1)),
        STEPS.but(merged=lambda x: x.mean(dim=1)),
        STEPS.but(merged=lambda x: x.amax(dim=1)),
        STEPS.but(merged=lambda x: x.mean(dim=1).repeat(1, 1, x.shape[1])).attempt,
        STEPS.but(merged=lambda x: x.sum(dim=1).repeat(1, 1, x.shape[1])).attempt,
        does="the heads are made one by a sum, a mean or a maximum",
        says="{does}, and what each of them found cannot be told apart any more. They should be kept side by side.",
        hints=["How many numbers go in per position, and how many come out?"],
    ),
]
