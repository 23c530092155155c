"""What goes wrong with attention where a query may see nothing."""

import torch

from transformer_lab.course.exercise import Mistake


def scaled_scores(queries, keys):
    return queries @ keys.mT / queries.shape[-1] ** 0.5


def nan_where_nothing_is_seen(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -torch.inf), dim=-1) @ values


def nan_after_adding(queries, keys, values, mask):
    to_add = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
    return torch.softmax(scaled_scores(queries, keys) + to_add, dim=-1) @ values


def nan_mended_too_late(queries, keys, values, mask):
    to_add = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
    return torch.softmax(scaled_scores(queries, keys) + to_add, dim=-1).nan_to_num() @ values


def output_mended_too_late(queries, keys, values, mask):
    return nan_where_nothing_is_seen(queries, keys, values, mask).nan_to_num()


def output_mended_too_late_after_adding(queries, keys, values, mask):
    to_add = torch.zeros(mask.shape).masked_fill(~mask, -torch.inf)
    return (torch.softmax(scaled_scores(queries, keys) + to_add, dim=-1) @ values).nan_to_num()


def mended_in_place(queries, keys, values, mask):
    weights = torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -torch.inf), dim=-1)
    weights[weights.isnan()] = 0.0
    return weights @ values


def minus_a_billion(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -1e9), dim=-1) @ values


def adds_minus_a_billion(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys) + (~mask) * -1e9, dim=-1) @ values


def adds_minus_ten_thousand(queries, keys, values, mask):
    return torch.softmax(scaled_scores(queries, keys) + (~mask) * -1e4, dim=-1) @ values


def empty_rows_keep_their_weights(queries, keys, values, mask):
    allowed = mask | ~mask.any(dim=-1, keepdim=True)
    return torch.softmax(scaled_scores(queries, keys).masked_fill(~allowed, -torch.inf), dim=-1) @ values


def zeroes_the_others(queries, keys, values, mask):
    weights = torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -torch.inf), dim=-1)
    return weights.masked_fill(mask.any(dim=-1, keepdim=True), 0.0) @ values


def zeroes_all_that_miss_a_key(queries, keys, values, mask):
    weights = torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -torch.inf), dim=-1)
    return weights.masked_fill(~mask.all(dim=-1, keepdim=True), 0.0) @ values


def seeks_empty_columns(queries, keys, values, mask):
    weights = torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -torch.inf), dim=-1)
    return weights.masked_fill(~mask.any(dim=-2, keepdim=True), 0.0) @ values


def seeks_empty_columns_before(queries, keys, values, mask):
    sees_nothing = ~mask.any(dim=-2, keepdim=True)
    scores = scaled_scores(queries, keys).masked_fill(~(mask | sees_nothing), -torch.inf)
    return torch.softmax(scores, dim=-1).masked_fill(sees_nothing, 0.0) @ values


def forgets_keepdim(queries, keys, values, mask):
    weights = torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -torch.inf), dim=-1)
    return weights.masked_fill(~mask.any(dim=-1), 0.0) @ values


def forgets_keepdim_in_where(queries, keys, values, mask):
    weights = torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -torch.inf), dim=-1)
    return torch.where(mask.any(dim=-1), weights, 0.0) @ values


def forgets_keepdim_and_masks_the_output(queries, keys, values, mask):
    output = torch.softmax(scaled_scores(queries, keys).masked_fill(~mask, -torch.inf), dim=-1) @ values
    return output.masked_fill(~mask.any(dim=-1), 0.0)


MISTAKES = [
    Mistake(
        "nan_where_nothing_is_seen",
        [nan_where_nothing_is_seen, nan_after_adding],
        says=(
            "Right wherever a query may see something. Where it may see nothing, all its scores are -∞, and the output "
            "is nan. It should be zeros."
        ),
        hints=[
            "What is the softmax of three times -∞? Which numbers are divided?",
            "`~mask.any(dim=-1, keepdim=True)` is True for the rows in which nothing is allowed. What should their "
            "weights be?",
            "Fill the weights of these rows with 0 after the softmax: `weights.masked_fill(sees_nothing, 0.0)`. To "
            "multiply them by 0 is not enough, as 0 · nan is nan.",
        ],
    ),
    Mistake(
        "nan_mended_too_late",
        [nan_mended_too_late, output_mended_too_late, output_mended_too_late_after_adding],
        says=(
            "The output is right, and the gradient is nan: inside, the empty rows still were nan, and on the way back "
            "nothing takes that away. Look at what reaches the softmax in such a row."
        ),
        hints=[
            "Which gradients do the queries and the values get? In training, one nan ruins the whole model.",
            "If the empty rows never hold -∞, no nan is ever made.",
            "Let the empty rows through the softmax as if nothing were hidden, and fill their weights with 0 "
            "afterwards, before they meet the values.",
        ],
    ),
    Mistake(
        "mended_in_place",
        [mended_in_place],
        says=(
            "The output is right, but nothing can be learned through it: the weights are overwritten *in place*, and the "
            "softmax needs its own output again on the way back. Look at the line that mends them."
        ),
        hints=[
            "Call it with queries that require a gradient, and `.sum().backward()` the output. What does torch say?",
            "`x[...] = 0` and names that end in `_` write into the tensor itself. Others hand out a new one.",
            "`weights = weights.masked_fill(sees_nothing, 0.0)`.",
        ],
    ),
    Mistake(
        "minus_a_billion",
        [minus_a_billion, adds_minus_a_billion, adds_minus_ten_thousand, empty_rows_keep_their_weights],
        says=(
            "Right wherever a query may see something. Where it may see nothing, the softmax hands out weights all the "
            "same: its scores are equally low, or not hidden at all. The output should be zeros."
        ),
        hints=[
            "What is the softmax of three equal numbers? Does it matter how low they are?",
            "`~mask.any(dim=-1, keepdim=True)` is True for the rows in which nothing is allowed.",
            "Fill the weights of these rows with 0 after the softmax, and keep what that returns.",
        ],
    ),
    Mistake(
        "zeroes_the_others",
        [zeroes_the_others],
        says="The wrong rows get zeros: those that may see something. Look at what `any` says.",
        hints=[
            "`mask.any(dim=-1)` is True for a row in which something is allowed. Which rows should be zeros?",
            "The opposite of something is nothing.",
            "`~mask.any(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "zeroes_all_that_miss_a_key",
        [zeroes_all_that_miss_a_key],
        says=(
            "Everything becomes zeros: a row in which *some* key is hidden is taken for one in which all are. Look at how "
            "the empty rows are found."
        ),
        hints=[
            "For a row with True and False in it, what do `any` and `all` say?",
            "In an empty row, not even one entry is True.",
            "`~mask.any(dim=-1, keepdim=True)`, with the `~` in front of the whole.",
        ],
    ),
    Mistake(
        "seeks_empty_columns",
        [seeks_empty_columns, seeks_empty_columns_before],
        says="Instead of the queries that may see nothing, it looks for the *keys* that nobody may see. Look at the axis.",
        hints=[
            "Along which axis of the mask do the keys of one query lie?",
            "A query sees nothing if nothing in its row is True.",
            "`~mask.any(dim=-1, keepdim=True)`.",
        ],
    ),
    Mistake(
        "forgets_keepdim",
        [forgets_keepdim, forgets_keepdim_in_where, forgets_keepdim_and_masks_the_output],
        says=(
            "The rows in which nothing is allowed are lined up with the wrong axis: it crashes, or zeroes *columns*. "
            "Look at the shape of what says which rows they are."
        ),
        hints=[
            "For a mask of shape (2, 3), what shape does `mask.any(dim=-1)` have?",
            "Shapes are lined up from the right: (2, 3) and (2,) do not fit, (2, 3) and (2, 1) do.",
            "`keepdim=True` leaves the last axis in place, with length 1.",
        ],
    ),
]
