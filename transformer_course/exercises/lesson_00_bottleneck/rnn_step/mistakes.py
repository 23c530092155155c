"""What goes wrong in one step of a recurrent neural network."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_00_bottleneck.rnn_step.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result, rounded

MISTAKES = [
    Mistake(
        "w_not_transposed",
        STEPS.but(w_columns=lambda w: w),
        does="the product of the states with W meets the wrong axis of W",
    ),
    Mistake(
        "u_not_transposed",
        STEPS.but(u_columns=lambda u: u),
        does="the product of the tokens with U meets the wrong axis of U",
    ),
    Mistake(
        "reshapes_u",
        STEPS.but(u_columns=lambda u: u.reshape(u.shape[1], u.shape[0])),
        does="the numbers of U are read in their old order along exchanged axes",
        says=(
            "The shape is that of the transposed U, but its numbers are in the wrong places: `reshape` and `view` only "
            "cut the same sequence of numbers into other rows."
        ),
        hints=["Print `torch.arange(6).reshape(2, 3)`, its `.reshape(3, 2)` and its `.T`."],
    ),
    Mistake(
        "token_forgotten",
        STEPS.but(total=lambda kept: kept),
        does="the new state does not depend on the token",
    ),
    Mistake(
        "state_forgotten",
        STEPS.but(total=lambda read: read),
        does="the new state does not depend on the old one",
    ),
    Mistake(
        "no_tanh",
        STEPS.but(squashed=lambda total: total),
        does="the tanh is missing",
    ),
    Mistake(
        "tanh_of_one_term",
        STEPS.but(squashed=lambda kept, read: torch.tanh(kept) + read),
        STEPS.but(squashed=lambda kept, read: kept + torch.tanh(read)),
        STEPS.but(squashed=lambda kept, read: torch.tanh(kept) + torch.tanh(read)),
        does="the tanh is taken of the terms one by one, before they are added",
        says="{does}, or of one term only. Look at the parentheses: a single tanh goes around the whole sum.",
        hints=["Can your result be larger than 1? Can a tanh?"],
    ),
    Mistake(
        "another_function",
        STEPS.but(squashed=lambda total: torch.sigmoid(total)),
        STEPS.but(squashed=lambda total: torch.relu(total)),
        STEPS.but(squashed=lambda total: torch.softmax(total, dim=-1)),
        does="another function stands where the tanh should",
        says="{does}: a sigmoid, a `relu` or a softmax. Look at the last step.",
        hints=["Can an entry of a state be negative? Can one of yours?"],
    ),
    Mistake(
        "difference",
        STEPS.but(total=lambda kept, read: kept - read),
        STEPS.but(total=lambda kept, read: read - kept),
        does="one of the two terms is subtracted from the other",
    ),
    Mistake(
        "multiplied",
        STEPS.but(total=lambda kept, read: kept * read),
        does="the two terms are multiplied by each other",
    ),
    Mistake(
        "averaged_with_the_old_state",
        STEPS.but(output=lambda squashed, state: (squashed + state) / 2),
        does="the new state is averaged with the old one",
        says="{does}. A GRU does something like it, with a gate; the simple network overwrites the old state.",
        hints=["What does the formula do with the old state, apart from W h?"],
    ),
    Mistake(
        "entry_by_entry",
        STEPS.but(kept=lambda state, w: state * w),
        STEPS.but(read=lambda token, u: token * u),
        does="a vector is multiplied by its matrix entry by entry",
        says="{does}. In W h and U x, a product of a matrix and a vector is meant: `@`.",
        hints=["What shape should W h have for two texts?"],
    ),
    Mistake(
        "matrix_first",
        STEPS.but(kept=lambda state, w: w @ state),
        STEPS.but(read=lambda token, u: u @ token),
        does="the matrix stands on the left of a whole batch",
        says="{does}. W h is written for one vector; here each *row* is a text, so the shapes do not fit.",
        hints=["Write the shapes beside each other: (d, d) and (batch, d)."],
    ),
    Mistake(
        "more_than_the_state",
        STEPS.but(output=lambda output: (output, output)),
        STEPS.but(output=lambda output, state: (output, state)),
        does="a tuple comes out, not one tensor",
        says="A tuple comes out. One tensor is asked for, a row for each text.",
        hints=["What does `type(...)` say of the result?"],
    ),
    rounded(STEPS, "output", digits=[2]),
    *of_the_result(STEPS),
]
