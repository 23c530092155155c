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
        "sum_of_the_heads",
        STEPS.but(merged=lambda x: x.sum(dim=1)),
        STEPS.but(merged=lambda x: x.mean(dim=1)),
        does="the heads are made one by a sum or a mean",
        says="{does}, and what each of them found cannot be told apart any more. They should be kept side by side.",
    ),
]
