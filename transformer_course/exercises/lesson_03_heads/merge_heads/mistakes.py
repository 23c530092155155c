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
        "sum_of_the_heads",
        STEPS.but(merged=lambda x: x.sum(dim=1)),
        STEPS.but(merged=lambda x: x.mean(dim=1)),
        does="the heads are made one by a sum or a mean",
        says="{does}, and what each of them found cannot be told apart any more. They should be kept side by side.",
    ),
]
