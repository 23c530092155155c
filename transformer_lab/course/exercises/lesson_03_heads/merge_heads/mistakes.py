"""What goes wrong when heads are put side by side again."""

from transformer_lab.course.exercise import Mistake


def merges_by_view(x):
    batch, n_heads, n, d_k = x.shape
    return x.reshape(batch, n, n_heads * d_k)


def flattens_without_the_swap(x):
    return x.flatten(2)


def views_the_transposed(x):
    batch, n_heads, n, d_k = x.shape
    return x.transpose(1, 2).view(batch, n, n_heads * d_k)


def takes_heads_for_positions(x):
    return x.transpose(1, 2).reshape(x.shape[0], x.shape[1], -1)


def not_merged(x):
    return x.transpose(1, 2)


def features_in_turn(x):
    return x.permute(0, 2, 3, 1).flatten(2)


def features_before_positions(x):
    return x.mT.flatten(1, 2)


def heads_in_a_queue(x):
    return x.flatten(1, 2)


def sum_of_the_heads(x):
    return x.sum(dim=1)


def mean_of_the_heads(x):
    return x.mean(dim=1)


def merges_the_wrong_neighbours(x):
    return x.transpose(1, 2).flatten(1, 2)


MISTAKES = [
    Mistake(
        "merges_by_view",
        [merges_by_view],
        says=(
            "The shape is right, but the numbers are not: the first positions of the result are made of nothing but "
            "head 0. Positions get mixed up with one another. Look at what comes before the reshaping."
        ),
        hints=[
            "In the first case, the first position should be 10, 11, 12, 13 again.",
            "`reshape` never changes the order of the numbers. In x they lie head by head; in the result they "
            "should lie position by position.",
            "Swap axes 1 and 2 first.",
        ],
    ),
    Mistake(
        "flattens_without_the_swap",
        [flattens_without_the_swap],
        says=(
            "The result has a row for each *head*, in which all its positions stand one after the other. There should be "
            "a row for each position. A step is missing before the merging, or what it gives is lost."
        ),
        hints=[
            "The shape asked for is (batch, n, n_heads · d_k). Which is it for 3 heads and 5 positions?",
            "Only neighbouring axes can be merged. Which two have to be neighbours? And `x.transpose(...)` gives a new "
            "tensor: it leaves x as it is.",
            "`x.transpose(1, 2).flatten(2)`.",
        ],
    ),
    Mistake(
        "views_the_transposed",
        [views_the_transposed],
        says=(
            "The two steps are right, but `view` refuses: after a transposition the numbers no longer lie in memory in "
            "the order in which `view` would read them. Look at what was said about `contiguous`."
        ),
        hints=[
            "Which of the two steps crashes, and what does the error message advise?",
            "Somebody has to copy the numbers into their new order. `view` never copies.",
            "`.contiguous()` between the two, or `.reshape` instead of `.view`.",
        ],
    ),
    Mistake(
        "takes_heads_for_positions",
        [takes_heads_for_positions],
        says=(
            "The result has as many rows as there were heads. There should be one for each position. Right only where "
            "the two numbers are equal. Look at where the length of the result is taken from."
        ),
        hints=[
            "x comes with the shape (batch, n_heads, n, d_k). Which number of it is taken for the positions?",
            "Swapping axes gives a new tensor: x keeps its shape, unless the result is called x as well.",
            "`batch, n_heads, n, d_k = x.shape`, before anything is swapped.",
        ],
    ),
    Mistake(
        "not_merged",
        [not_merged],
        says=(
            "Positions and heads have changed places, and that is right, but there are still four axes. One step is "
            "missing."
        ),
        hints=[
            "The shape asked for is (batch, n, d_model). Which is it now?",
            "The last two axes, n_heads and d_k, are to become one.",
            "`.reshape(batch, n, n_heads * d_k)` or `.flatten(2)`.",
        ],
    ),
    Mistake(
        "features_in_turn",
        [features_in_turn],
        says=(
            "Each position has its own numbers, but in the wrong order: feature 0 of every head, then feature 1 of "
            "every head. The heads should stand one after the other. Look at the order of the last two axes."
        ),
        hints=[
            "In the first case, the first position should be 10, 11, 12, 13 again.",
            "Before the merging, the axes should be (batch, n, n_heads, d_k). Which are they?",
            "One swap is enough: axes 1 and 2.",
        ],
    ),
    Mistake(
        "features_before_positions",
        [features_before_positions],
        says=(
            "The result is the wrong way round: a row per feature, a column per position. Look at the order of the "
            "axes before the merging."
        ),
        hints=[
            "The shape asked for is (batch, n, d_model). Which is it now?",
            "The positions should stand in front of the heads, the features stay last.",
            "Swap axes 1 and 2, then merge the last two.",
        ],
    ),
    Mistake(
        "heads_in_a_queue",
        [heads_in_a_queue],
        says=(
            "The heads stand one behind the other, as if they were further positions: n_heads · n of them, d_k wide. "
            "They should stand side by side. Look at which axes are merged."
        ),
        hints=[
            "The shape asked for is (batch, n, n_heads · d_k). Which is it now?",
            "Only neighbouring axes can be merged. Which two have to be neighbours?",
            "Swap axes 1 and 2 first, then merge the last two.",
        ],
    ),
    Mistake(
        "sum_of_the_heads",
        [sum_of_the_heads, mean_of_the_heads],
        says=(
            "The heads are added up, and what each of them found cannot be told apart any more. They should be kept "
            "side by side."
        ),
        hints=[
            "How many numbers go in per position, and how many come out?",
            "No arithmetic is needed, only another arrangement.",
            "Swap axes 1 and 2, then merge the last two.",
        ],
    ),
    Mistake(
        "merges_the_wrong_neighbours",
        [merges_the_wrong_neighbours],
        says=(
            "The wrong two axes are merged: positions and heads have become one axis, and the features are as narrow "
            "as before. Look at which axes the merging names."
        ),
        hints=[
            "The shape asked for is (batch, n, n_heads · d_k). Which is it now?",
            "After the swap the axes are (batch, n, n_heads, d_k), numbered 0 to 3. Which two belong together?",
            "Axes 2 and 3.",
        ],
    ),
]
