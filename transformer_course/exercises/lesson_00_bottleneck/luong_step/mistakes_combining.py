"""What goes wrong in one step of attention in Luong's order, once there is a context."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_00_bottleneck.luong_step.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result, rounded

MISTAKES = [
    Mistake(
        "state_first",
        STEPS.but(both=lambda context, state: torch.cat([state, context], dim=-1)),
        does="the state stands before the context in [c; s]",
    ),
    Mistake(
        "no_tanh",
        STEPS.but(squashed=lambda combined: combined),
        does="the tanh of the product with W_c is missing",
    ),
    Mistake(
        "tanh_before_the_product",
        STEPS.but(squashed=lambda both, matrix: torch.tanh(both) @ matrix),
        does="the tanh is taken before the product with W_c, not after it",
        says=(
            "The tanh is taken of context and state, before the product with W_c. Look at the order: what is inside "
            "the tanh?"
        ),
        hints=["Compare with the formula: tanh(W_c [c; s])."],
    ),
    Mistake(
        "one_tanh_too_many",
        STEPS.but(both=lambda both: torch.tanh(both)),
        STEPS.but(output=lambda output: torch.tanh(output)),
        STEPS.but(context=lambda context: torch.tanh(context)),
        STEPS.but(weights=lambda scores: torch.softmax(torch.tanh(scores), dim=-1)),
        STEPS.but(row=lambda row: torch.tanh(row)),
        STEPS.but(states=lambda states: torch.tanh(states)).attempt,
        does="a `tanh` is taken where there should be none",
        says=(
            "There is a tanh too many: of the scores, of the context, of [c; s], or of the result once more. The "
            "formula has one, round the whole product."
        ),
        hints=["How often does tanh occur in the formula, and where?"],
    ),
    Mistake(
        "tanh_of_each_half",
        STEPS.but(
            squashed=lambda context, state, w_c: (
                torch.tanh(context @ w_c[:, : state.shape[1]].T) + torch.tanh(state @ w_c[:, state.shape[1] :].T)
            )
        ),
        does="the tanh is taken of each half of the product, and then they are added",
        says=(
            "The tanh is taken of what comes of the context and of what comes of the state, and the two are added "
            "afterwards. One tanh goes round the sum of both."
        ),
        hints=["Compare with the formula: tanh(W_c [c; s])."],
    ),
    Mistake(
        "reshapes_w_c",
        STEPS.but(matrix=lambda w_c: w_c.reshape(w_c.shape[1], w_c.shape[0])),
        does="the numbers of W_c are read in their old order along exchanged axes",
        says=(
            "The shape is that of the transposed W_c, and the numbers are not: `reshape` and `view` only break the "
            "same sequence of numbers into other rows."
        ),
        hints=["Print `torch.arange(6).reshape(2, 3)`, its `.reshape(3, 2)` and its `.T`."],
    ),
    Mistake(
        "another_function",
        STEPS.but(squashed=lambda combined: torch.sigmoid(combined)),
        STEPS.but(squashed=lambda combined: torch.relu(combined)),
        STEPS.but(squashed=lambda combined: torch.softmax(combined, dim=-1)),
        does="another function stands where the tanh should",
        says="{does}: a sigmoid, a `relu` or a softmax. Look at the last step.",
        hints=["Between which two numbers does tanh lie?"],
    ),
    Mistake(
        "only_the_context",
        STEPS.but(output=lambda context: context),
        does="the context is handed back, and `w_c` is not used",
    ),
    Mistake(
        "state_forgotten",
        STEPS.but(both=lambda context: context),
        does="what meets W_c is as wide as one state, not two",
    ),
    Mistake(
        "half_of_w_c",
        STEPS.but(both=lambda context: torch.cat([context, torch.zeros_like(context)], dim=-1)),
        STEPS.but(both=lambda context, state: torch.cat([torch.zeros_like(context), state], dim=-1)),
        STEPS.but(both=lambda context, state: torch.cat([context + state, torch.zeros_like(context)], dim=-1)),
        does="only one half of W_c is used",
        says=(
            "Only half of W_c is used: the context or the state is left out, or the two are added to each other. Both "
            "should pass through W_c, each through its own half."
        ),
        hints=["Does the result change with every column of `w_c`?"],
    ),
    Mistake(
        "one_of_the_two_twice",
        STEPS.but(both=lambda context: torch.cat([context, context], dim=-1)),
        STEPS.but(both=lambda state: torch.cat([state, state], dim=-1)),
        STEPS.but(both=lambda context, states: torch.cat([context, states[:, -1]], dim=-1)),
        STEPS.but(both=lambda weights, state: torch.cat([weights, state], dim=-1)),
        does="another vector stands where context or state should in [c; s]",
        says=(
            "[c; s] holds one of the two twice, or something else in place of the other: the weights, or a state of "
            "the encoder. Look at what is put side by side."
        ),
        hints=["Which two vectors does the formula put side by side?"],
    ),
    Mistake(
        "put_below_each_other",
        STEPS.but(both=lambda context, state: torch.cat([context, state])),
        STEPS.but(both=lambda context, state: torch.stack([context, state], dim=-1)),
        does="context and state are joined along another axis than that of the width",
        says=(
            "{does}: below each other, as if they were further texts, or along a new axis. Look at the axis, and at "
            "whether it is `cat`."
        ),
        hints=["Two tensors of shape (3, 5) side by side have the shape (3, 10). Which shape comes out here?"],
    ),
    Mistake(
        "not_transposed",
        STEPS.but(matrix=lambda w_c: w_c),
        STEPS.but(combined=lambda both, w_c: w_c @ both),
        does="the product meets the wrong axis of W_c",
        says=(
            "{does}: it stands with (outputs, inputs). That crashes, or, where it is square, gives other numbers. Look "
            "at the shapes on both sides of the product."
        ),
        hints=["(batch, 2 d) times (d_out, 2 d): which two numbers would have to be equal?"],
    ),
    Mistake(
        "result_on_its_side",
        STEPS.but(output=lambda output: output.T),
        does="the result is transposed: a column for each text, not a row",
    ),
    Mistake(
        "more_than_the_vector",
        STEPS.but(output=lambda output, weights: (output, weights)),
        STEPS.but(output=lambda output, context: (output, context)),
        STEPS.but(output=lambda output: list(output)),
        does="a tuple or a list comes out, not one tensor",
        says="A tuple or a list comes out. One tensor is asked for, a row for each text.",
        hints=["What does `type(...)` say of the result?"],
    ),
    rounded(STEPS, "weights", "output", digits=[2]),
    *of_the_result(
        STEPS,
        "result_transposed",
        "function_of_the_result",
        "result_in_a_list",
        "axes_of_length_1_removed",
        "only_the_first_result",
    ),
]
