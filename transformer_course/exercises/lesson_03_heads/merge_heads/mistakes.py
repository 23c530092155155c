"""What goes wrong when heads are put side by side again."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_03_heads.merge_heads.answer import STEPS
from transformer_course.exercises.shared.final_result_mistakes import of_the_result

MISTAKES = [
    Mistake(
        "merges_by_view",
        STEPS.but(swapped=lambda x: x),
        does="the axes of heads and positions are not swapped before axes are joined",
    ),
    Mistake(
        "flattens_without_the_swap",
        STEPS.but(merged=lambda x: x.flatten(2)),
        does="positions and features are made one axis, a row for each head",
    ),
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
        "not_merged",
        STEPS.but(merged=lambda swapped: swapped),
        does="the heads keep an axis of their own",
    ),
    Mistake(
        "swaps_positions_and_features",
        STEPS.but(swapped=lambda x: x.mT),
        does="positions and features are swapped, not heads and positions",
        says=(
            "The shape is right, but the wrong two axes are swapped: positions and features, where heads and positions "
            "should be. Look at the axes that are named."
        ),
        hints=["In the first case, the first position should be 10, 11, 12, 13 again."],
    ),
    Mistake(
        "swaps_heads_and_features",
        STEPS.but(swapped=lambda x: x.transpose(1, 3)),
        does="heads and features are swapped, not heads and positions",
    ),
    Mistake(
        "swaps_with_the_batch",
        STEPS.but(swapped=lambda x: x.transpose(0, 1)),
        STEPS.but(swapped=lambda x: x.transpose(0, 2)),
        STEPS.but(swapped=lambda x: x.permute(2, 0, 1, 3)),
        STEPS.but(merged=lambda merged: merged.transpose(0, 1)),
        does="the batch is swapped with another axis",
        says="{does}: numbers of one sentence end up in another. Look at the axes that are named.",
        hints=["x has the axes (batch, n_heads, n, d_k), numbered 0 to 3. Which should stay where it is?"],
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
    Mistake(
        "scaled_on_the_way",
        STEPS.but(x=lambda x: x / x.shape[1]),
        STEPS.but(x=lambda x: x / x.shape[1] ** 0.5),
        STEPS.but(x=lambda x: x / x.shape[3] ** 0.5).attempt,
        STEPS.but(x=lambda x: x / x.shape[3]).attempt,
        STEPS.but(x=lambda x: x * x.shape[1]).attempt,
        does="the numbers are scaled on the way",
        says=(
            "The numbers are multiplied or divided by a length. Merging only puts them side by side. Look for a "
            "division."
        ),
        hints=["By which factor do the numbers differ?"],
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
        "heads_in_reverse",
        STEPS.but(x=lambda x: x.flip(1)),
        does="the heads come in reverse order",
        says="The heads stand in reverse order: the last one first. Look at the order in which they are put together.",
        hints=["In the first case, the first position should be 10, 11, 12, 13 again."],
    ),
    Mistake(
        "heads_one_on",
        STEPS.but(x=lambda x: x.roll(1, 1)),
        STEPS.but(x=lambda x: x.roll(-1, 1)),
        STEPS.but(x=lambda x: x.flip(1).roll(1, 1)).attempt,
        does="heads stand in the places of others, as by an index of i − 1, i + 1 or −i",
        says=(
            "All the heads are there, and most stand in the place of another, as by an index of i − 1, i + 1 or −i. "
            "Look at the index of the head."
        ),
        hints=["In the first case, the first position should be 10, 11, 12, 13 again."],
    ),
    Mistake(
        "last_head_left_out",
        STEPS.but(x=lambda x: x[:, :-1]),
        STEPS.but(x=lambda x: x[:, 1:]),
        STEPS.but(x=lambda x: torch.cat([x[:, i : i + 1] for i in range(x.shape[1] - 1)], dim=1)),
        STEPS.but(x=lambda x: torch.cat([x[:, i : i + 1] for i in range(1, x.shape[1])], dim=1)),
        does="the first or the last head is left out",
        says="One head is missing, the first or the last. Look at where the heads begin and end.",
        hints=["How many numbers go in per position, and how many come out?"],
    ),
    Mistake(
        "one_head_only",
        STEPS.but(merged=lambda x: x[:, 0]),
        STEPS.but(merged=lambda x: x[:, -1]),
        does="a single head comes out",
        says="{does}, the first or the last. All of them are to stand side by side.",
        hints=["How many numbers go in per position, and how many come out?"],
    ),
    Mistake(
        "a_list_of_heads",
        STEPS.but(merged=lambda x: x.unbind(1)),
        does="the heads come as separate tensors",
        says="{does}, and they should stand side by side in one. A step is missing.",
        hints=["What does `type(...)` say of the result?"],
    ),
    Mistake(
        "shape_is_no_function",
        STEPS.but(n=lambda x: x.shape()[2], swapped=lambda x: x.shape()),
        does="`shape` is called like a function",
        says="{does}, and it is none: it crashes. Look at the brackets behind it.",
        hints=["What kind of thing is `x.shape`, and what kind is `x.size`?"],
    ),
    *of_the_result(
        STEPS,
        "result_with_another_sign",
        "result_scaled",
        "result_transposed",
        "function_of_the_result",
    ),
]
