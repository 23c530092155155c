"""What goes wrong when projections are cut into heads."""

import torch

from transformer_lab.course.exercise import Mistake


def splits_by_view(x, n_heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n_heads, n, d_model // n_heads)


def heads_behind_positions(x, n_heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n, n_heads, d_model // n_heads)


def swaps_the_last_two_axes(x, n_heads):
    return heads_behind_positions(x, n_heads).transpose(-2, -1)


def transposes_too_early(x, n_heads):
    batch, n, d_model = x.shape
    return x.transpose(1, 2).reshape(batch, n_heads, n, d_model // n_heads)


def heads_made_into_a_batch(x, n_heads):
    return heads_behind_positions(x, n_heads).transpose(1, 2).flatten(0, 1)


def positions_last(x, n_heads):
    return heads_behind_positions(x, n_heads).permute(0, 2, 3, 1)


def heads_interleaved(x, n_heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n, d_model // n_heads, n_heads).permute(0, 3, 1, 2)


def heads_before_batch(x, n_heads):
    return torch.stack(x.chunk(n_heads, dim=-1))


def as_many_heads_as_features(x, n_heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n, d_model // n_heads, n_heads).transpose(1, 2)


def a_list_of_heads(x, n_heads):
    return x.chunk(n_heads, dim=-1)


def everything_for_every_head(x, n_heads):
    return x.unsqueeze(1).repeat(1, n_heads, 1, 1)


def divides_to_a_float(x, n_heads):
    batch, n, d_model = x.shape
    return x.view(batch, n, n_heads, d_model / n_heads).transpose(1, 2)


def reshapes_to_a_float(x, n_heads):
    batch, n, d_model = x.shape
    return x.reshape(batch, n, n_heads, d_model / n_heads).transpose(1, 2)


MISTAKES = [
    Mistake(
        "splits_by_view",
        [splits_by_view],
        says=(
            "The shape is right, but the heads got positions instead of features: the first head holds everything "
            "about the first positions, and nothing about the last. Read off in the first case whose numbers head 0 "
            "holds."
        ),
        hints=[
            "In the first case, head 0 should hold 10, 11 of the first position and 20, 21 of the second.",
            "`view` and `reshape` never change the order of the numbers. In which order do they lie in x: position "
            "by position, or head by head?",
            "Cut the last axis first: (batch, n, n_heads, d_k). Then let `.transpose(1, 2)` bring the heads to the "
            "front.",
        ],
    ),
    Mistake(
        "heads_behind_positions",
        [heads_behind_positions],
        says=(
            "The features are cut as they should be, but the heads stand behind the positions: a product of the last "
            "two axes would compare heads with heads. Look at the order of the axes."
        ),
        hints=[
            "The shape asked for is (batch, n_heads, n, d_k). Which is it now?",
            "Attention multiplies the last two axes. Which two should these be, so that positions meet positions?",
            "Swap axes 1 and 2.",
        ],
    ),
    Mistake(
        "swaps_the_last_two_axes",
        [swaps_the_last_two_axes],
        says=(
            "The heads have ended up last: the wrong two axes are swapped, or a new axis is put there. Look at which axes "
            "are named."
        ),
        hints=[
            "After the cut the axes are (batch, n, n_heads, d_k), numbered 0 to 3. Where should the heads be?",
            "The heads have to change places with the positions, not with the features.",
            "Swap axes 1 and 2; or, with `torch.stack`, `dim=1`.",
        ],
    ),
    Mistake(
        "transposes_too_early",
        [transposes_too_early],
        says=(
            "Two steps, in the wrong order: positions and features change places before the features are cut, so that "
            "what is cut are not features any more. Look at the order."
        ),
        hints=[
            "In the first case, head 0 should hold 10, 11 of the first position. Which numbers are its first two?",
            "The axis to be cut is d_model. Is it the last one when the cut comes?",
            "Cut first, to (batch, n, n_heads, d_k), and then `.transpose(1, 2)`.",
        ],
    ),
    Mistake(
        "heads_made_into_a_batch",
        [heads_made_into_a_batch],
        says=(
            "The heads are right, but they have been made one axis with the batch. Some code does so; here the heads keep "
            "an axis of their own."
        ),
        hints=[
            "The shape asked for is (batch, n_heads, n, d_k). Which is it now?",
            "A product of the last two axes works for any number of axes in front.",
            "Leave out the last step, in which batch and heads become one axis.",
        ],
    ),
    Mistake(
        "positions_last",
        [positions_last],
        says="The heads are in their place, but positions and features have changed places. Look at the last two axes.",
        hints=[
            "The shape asked for is (batch, n_heads, n, d_k). Which is it now?",
            "One swap is enough: which two axes?",
            "Axes 1 and 2 of (batch, n, n_heads, d_k).",
        ],
    ),
    Mistake(
        "heads_interleaved",
        [heads_interleaved],
        says=(
            "A fair way to cut, but not the one asked for: the features are dealt out in turn, so head 0 holds "
            "features 0, h, 2h … Each head should hold neighbours. A model that was trained with one layout cannot be "
            "used with the other. Look at which of the two new axes comes first."
        ),
        hints=[
            "With 4 features and 2 heads, which features does head 0 hold? It should be 0 and 1.",
            "Cutting d_model into (a, b) makes a pieces of b neighbours each.",
            "Cut into (n_heads, d_k), in this order.",
        ],
    ),
    Mistake(
        "heads_before_batch",
        [heads_before_batch],
        says="The heads are cut as they should be, but they stand in front of the batch. Look at the order of the axes.",
        hints=[
            "The shape asked for is (batch, n_heads, n, d_k). Which is it now?",
            "`torch.stack` puts the new axis in front unless it is told where.",
            "`dim=1`.",
        ],
    ),
    Mistake(
        "as_many_heads_as_features",
        [as_many_heads_as_features],
        says=(
            "The number of heads and their width are mixed up: there are d_k heads of n_heads features each. It goes "
            "unnoticed only where the two are equal. Look at the two numbers the last axis is cut into."
        ),
        hints=[
            "With 12 features and 3 heads, how wide is each head?",
            "Cutting d_model into (a, b) makes a pieces of b features each. Which number is which?",
            "a is n_heads, b is d_model // n_heads.",
        ],
    ),
    Mistake(
        "a_list_of_heads",
        [a_list_of_heads],
        says=(
            "The heads are right, but they come as separate tensors. One tensor is asked for, with an axis for the "
            "heads, so that all heads can be worked on at once."
        ),
        hints=[
            "What does `type(...)` say of the result?",
            "`torch.stack(pieces, dim=...)` puts tensors side by side along a new axis.",
            "The new axis goes behind the batch: `dim=1`. `view` and `transpose` do it without copying.",
        ],
    ),
    Mistake(
        "everything_for_every_head",
        [everything_for_every_head],
        says="Every head gets all the features. It should get its own share of them: d_model / n_heads.",
        hints=[
            "How wide is a head to be, for 12 features and 3 heads?",
            "Nothing is copied: each number of x goes to one head.",
            "`view` can cut the last axis into n_heads pieces.",
        ],
    ),
    Mistake(
        "divides_to_a_float",
        [divides_to_a_float, reshapes_to_a_float],
        says="The width of a head came out as a float, and no axis can be 2.0 long. Look at the division.",
        hints=[
            "In a new cell, try `4 / 2`. What type is it?",
            "Python has two divisions: one always gives a float, the other rounds down to a whole number.",
            "`//`.",
        ],
    ),
]
