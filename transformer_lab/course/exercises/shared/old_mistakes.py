"""What is said about slips that can be made wherever queries meet keys, so that each is described once.

An exercise adds the code: how the slip looks in it, and in which other ways it is spelt there.
"""

from collections.abc import Callable, Sequence
from typing import Any

from transformer_lab.course.exercise import Mistake

Code = Callable[..., Any]


def softmax_over_the_queries(attempt: Code, also: Sequence[Code] = ()) -> Mistake:
    """``dim=-2``."""
    return Mistake(
        "softmax_over_the_queries",
        [attempt, *also],
        says=(
            "The weights add up to 1 down each column: the queries compete for each key. It should be the keys that "
            "compete for each query. Look at the axis of the softmax."
        ),
        hints=[
            "Print `weights.sum(dim=-1)` and `weights.sum(dim=-2)`. Which of the two should be all ones?",
            "Row i belongs to query i and runs over the keys. Along which axis lie the keys?",
            "The keys are the last axis: `dim=-1`.",
        ],
    )


def axis_from_the_front(attempt: Code, also: Sequence[Code] = ()) -> Mistake:
    """``dim=1``."""
    return Mistake(
        "axis_from_the_front",
        [attempt, *also],
        says=(
            "Right for one table; with a batch in front, the weights add up to 1 along another axis, because the softmax "
            "counts its axis from the front. Look at how the axis is named."
        ),
        hints=[
            "For scores of shape (batch, n_query, n_key), which axis is number 1?",
            "Which way of counting does not depend on what stands in front?",
            "Count from the end: the keys are the last axis, `dim=-1`.",
        ],
    )


def first_axis(attempt: Code, also: Sequence[Code] = ()) -> Mistake:
    """``dim=0``."""
    return Mistake(
        "first_axis",
        [attempt, *also],
        says=(
            "The weights add up to 1 along the first axis: over the queries, or, where there is a batch, over its tables. "
            "For each query, those of all the keys should add up to 1. Look at the axis of the softmax."
        ),
        hints=[
            "In a table of shape (n_query, n_key), which axis is number 0?",
            "The keys are the last axis, whatever stands in front. Which number always means the last?",
            "`dim=-1`.",
        ],
    )


def keys_not_transposed(attempt: Code, also: Sequence[Code] = ()) -> Mistake:
    """``queries @ keys``."""
    return Mistake(
        "keys_not_transposed",
        [attempt, *also],
        says=(
            "`queries @ keys` pairs the width of the one with the *number* of the other. That crashes, or, where the two "
            "happen to be equal, gives nonsense. Look at the shapes on both sides of the `@`."
        ),
        hints=[
            "(n_query, d) @ (n_key, d): which two numbers have to be equal in a matrix product?",
            "Each key is a row of `keys`. It should be a column on the right-hand side.",
            "Swap the last two axes of the keys: `keys.mT`, or `keys.transpose(-2, -1)`.",
        ],
    )


def transposes_the_batch(attempt: Code, also: Sequence[Code] = ()) -> Mistake:
    """``keys.T``."""
    return Mistake(
        "transposes_the_batch",
        [attempt, *also],
        says=(
            "Right for one table; with a batch in front, *all* the axes of the keys are turned round (or torch refuses "
            "to). The batch should stay where it is. Look at how the keys are transposed."
        ),
        hints=[
            "What shape does `.T` make of keys of shape (7, 3, 4)?",
            "Only the last two axes belong to the matrix.",
            "Swap just these: `keys.mT`, or `keys.transpose(-2, -1)`.",
        ],
    )


def swaps_axes_from_the_front(attempt: Code, also: Sequence[Code] = ()) -> Mistake:
    """``keys.transpose(0, 1)`` or ``keys.transpose(1, 2)``."""
    return Mistake(
        "swaps_axes_from_the_front",
        [attempt, *also],
        says=(
            "Right for one number of axes only: which axes of the keys are swapped is counted from the front, and each "
            "axis of a batch shifts that count. Look at the numbers in the transposition."
        ),
        hints=[
            "Of keys of shape (n_key, d), the axes 0 and 1 are to be swapped. Which are they in (batch, n_key, d), "
            "and which in (batch, heads, n_key, d)?",
            "Negative numbers count from the end, where the matrix always is.",
            "`keys.transpose(-2, -1)`, or `keys.mT`.",
        ],
    )


def reshapes_the_keys(attempt: Code, also: Sequence[Code] = ()) -> Mistake:
    """``keys.reshape(d, n_key)``."""
    return Mistake(
        "reshapes_the_keys",
        [attempt, *also],
        says=(
            "The shape is that of the transposed keys, but the numbers are not: `reshape` and `view` only break the same "
            "sequence of numbers into other rows, so each column mixes several keys."
        ),
        hints=[
            "Print `torch.arange(6).reshape(2, 3)`, its `.reshape(3, 2)` and its `.mT`.",
            "Entry (i, j) has to become entry (j, i). Which of them does that?",
            "`keys.mT`, or `keys.transpose(-2, -1)`.",
        ],
    )


def scores_instead_of_weights(attempt: Code, also: Sequence[Code] = ()) -> Mistake:
    """No softmax."""
    return Mistake(
        "scores_instead_of_weights",
        [attempt, *also],
        says=(
            "The values are mixed by raw scores: nothing makes the weights positive or lets them add up to 1. A step is "
            "missing between scoring and mixing."
        ),
        hints=[
            "With a single key, every query should get its value unchanged. Does it?",
            "Which function turns a row of scores into weights?",
            "`torch.softmax` over the last axis of the scores, then the product with the values.",
        ],
    )


def only_the_weights(attempt: Code, also: Sequence[Code] = ()) -> Mistake:
    """No product with the values."""
    return Mistake(
        "only_the_weights",
        [attempt, *also],
        says="These are the weights: one number per query and key. The values have not been mixed yet.",
        hints=[
            "What shape is asked for, and what shape comes out?",
            "Row i of the weights says how much of each value query i takes.",
            "Multiply the weights by the values: `weights @ values`.",
        ],
    )


def values_on_the_left(attempt: Code, also: Sequence[Code] = ()) -> Mistake:
    """``values @ weights``."""
    return Mistake(
        "values_on_the_left",
        [attempt, *also],
        says=(
            "The last product does not pair the keys with the keys: the values stand in front of the weights, or are "
            "transposed. That crashes, or, where the numbers happen to fit, mixes the entries of each value instead of the "
            "values."
        ),
        hints=[
            "The weights have the shape (n_query, n_key), the values (n_key, d_v). In which order do they fit?",
            "In `a @ b`, the rows of the result are mixtures of the rows of b.",
            "`weights @ values`.",
        ],
    )


def one_table_at_a_time(attempt: Code, also: Sequence[Code] = ()) -> Mistake:
    """``torch.stack([… for query in queries])``."""
    return Mistake(
        "one_table_at_a_time",
        [attempt, *also],
        says=(
            "Right for one table of queries. With a batch in front, the loop goes through the *batch*, and what it hands "
            "over as one query is a whole table. Look for a way without the loop."
        ),
        hints=[
            "What is one `query` of `for query in queries` when queries have the shape (7, 5, 4)?",
            "A matrix product of queries and keys scores all keys for all queries at once, whatever stands in front.",
            "`queries @ keys.mT` are all the scores; then softmax over the last axis. A product with the values, where "
            "they are asked for, mixes them all at once.",
        ],
    )


def pairs_from_the_front(attempt: Code, also: Sequence[Code] = ()) -> Mistake:
    """``queries[:, None]`` and ``keys[None]``."""
    return Mistake(
        "pairs_from_the_front",
        [attempt, *also],
        says=(
            "The axes of length 1 that form the pairs are put in by counting from the front, and each axis of a batch "
            "shifts that count: right for one number of axes at most. Look at where the `None` or `unsqueeze` stands."
        ),
        hints=[
            "What shape does `queries[:, None]` have for queries of shape (7, 5, 4)? It should be (7, 5, 1, 4).",
            "Counted from the end, the place is always the same; `...` stands for whatever is in front.",
            "`queries[..., :, None, :]` and `keys[..., None, :, :]`, or `unsqueeze(-2)` and `unsqueeze(-3)`.",
        ],
    )
