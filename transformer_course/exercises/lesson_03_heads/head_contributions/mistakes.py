"""What goes wrong when an output is divided among its heads."""

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.head_contributions.answer import STEPS


def merged(heads):
    return heads.transpose(1, 2).flatten(2)


MISTAKES = [
    Mistake(
        "every_other_column",
        STEPS.but(own=lambda heads: lambda head: slice(head, None, heads.shape[1])),
        does="the features of the merged vector are dealt out in turn: head 0 gets 0, h, 2h and so on",
        says=(
            "The columns of w_o are dealt out in turn: head 0 gets columns 0, h, 2h … Each head owns d_k "
            "neighbouring columns. Look at how the columns of one head are chosen."
        ),
        hints=["In the merged vector, where do the numbers of head 0 stand?"],
    ),
    Mistake(
        "the_whole_output",
        STEPS.but(terms=lambda heads, w_o: merged(heads) @ w_o.T),
        does="the terms of all heads are added up",
        says="This is the output of all heads together. What each head adds is asked for: one more axis.",
        hints=["The shape asked for is (batch, n_heads, n, d_out). Which is it now?"],
    ),
    Mistake(
        "the_output_cut_into_heads",
        STEPS.but(terms=lambda heads, w_o: (merged(heads) @ w_o.T).unflatten(-1, (heads.shape[1], -1)).transpose(1, 2)),
        does="the whole output is cut into as many pieces as there are heads",
        says=(
            "The whole output is computed and then cut into pieces. But every head adds to *every* feature of the "
            "output: w_o has mixed them already. Look at what is cut, and when."
        ),
        hints=["How wide is what one head adds? The shape asked for is (batch, n_heads, n, d_out)."],
    ),
    Mistake(
        "cut_before_it_is_turned",
        STEPS.but(terms=lambda heads, w_o: heads @ w_o.reshape(heads.shape[1], heads.shape[3], -1)),
        does="w_o is cut into heads row by row, as if it had a row for each feature of the merged vector",
        says=(
            "w_o is cut into heads row by row, as if it had a row for each feature of the merged vector. It has a "
            "*column* for each, so every head gets numbers of other heads. Look at what comes before the cut."
        ),
        hints=["`w_o` has the shape (d_out, d_merged). Which of its numbers does head 0 get, and which should it get?"],
    ),
]
