"""What goes wrong with the scores before anything is hidden."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.lesson_04_masks.masked_attention.mistakes_fully_masked_rows import (
    minus_a_billion,
    nan_where_nothing_is_seen,
)
from transformer_lab.course.exercises.lesson_04_masks.masked_attention.mistakes_masking import rightly_masked
from transformer_lab.course.exercises.shared import old_mistakes as attention_mistakes


def _all_turned_round(keys):
    return keys.permute(*reversed(range(keys.dim())))  # as .T, which warns


def not_scaled(queries, keys, values, mask):
    return rightly_masked(queries @ keys.mT, values, mask)


def not_scaled_and_nan(queries, keys, values, mask):
    return nan_where_nothing_is_seen(queries * queries.shape[-1] ** 0.5, keys, values, mask)


def not_scaled_and_a_billion(queries, keys, values, mask):
    return minus_a_billion(queries * queries.shape[-1] ** 0.5, keys, values, mask)


def divided_by_the_width(queries, keys, values, mask):
    return rightly_masked(queries @ keys.mT / queries.shape[-1], values, mask)


def divided_by_the_root_of_d_v(queries, keys, values, mask):
    return rightly_masked(queries @ keys.mT / values.shape[-1] ** 0.5, values, mask)


def divided_by_the_root_of_n_key(queries, keys, values, mask):
    return rightly_masked(queries @ keys.mT / keys.shape[-2] ** 0.5, values, mask)


def multiplied_by_the_root(queries, keys, values, mask):
    return rightly_masked(queries @ keys.mT * queries.shape[-1] ** 0.5, values, mask)


def all_axes_turned_round(queries, keys, values, mask):
    return rightly_masked(queries @ _all_turned_round(keys) / queries.shape[-1] ** 0.5, values, mask)


def all_axes_turned_round_and_nan(queries, keys, values, mask):
    scores = (queries @ _all_turned_round(keys) / queries.shape[-1] ** 0.5).masked_fill(~mask, -torch.inf)
    return torch.softmax(scores, dim=-1) @ values


def all_axes_turned_round_and_a_billion(queries, keys, values, mask):
    scores = (queries @ _all_turned_round(keys) / queries.shape[-1] ** 0.5).masked_fill(~mask, -1e9)
    return torch.softmax(scores, dim=-1) @ values


def swaps_axes_1_and_2(queries, keys, values, mask):
    return rightly_masked(queries @ keys.transpose(1, 2) / queries.shape[-1] ** 0.5, values, mask)


def swaps_axes_2_and_3(queries, keys, values, mask):
    return rightly_masked(queries @ keys.transpose(2, 3) / queries.shape[-1] ** 0.5, values, mask)


MISTAKES = [
    Mistake(
        "not_scaled",
        [not_scaled, not_scaled_and_nan, not_scaled_and_a_billion],
        says="The scores are masked, but not divided by √d_k.",
        hints=[
            "What did lesson 02 do with the scores?",
            "d_k is the width of the queries and keys.",
            "Divide the scores by `queries.shape[-1] ** 0.5`.",
        ],
    ),
    Mistake(
        "divided_by_the_width",
        [divided_by_the_width, divided_by_the_root_of_d_v, divided_by_the_root_of_n_key, multiplied_by_the_root],
        says=(
            "The masking is right, but the scores are scaled by something else than √d_k. Look at the number, and at what "
            "is done with it."
        ),
        hints=[
            "How large are the scores of random vectors of width d_k, and what makes their spread 1 (lesson 02)?",
            "d_k is the width of queries and keys, and a root belongs to it.",
            "Divide the scores by `queries.shape[-1] ** 0.5`.",
        ],
    ),
    attention_mistakes.transposes_the_batch(
        all_axes_turned_round, also=[all_axes_turned_round_and_nan, all_axes_turned_round_and_a_billion]
    ),
    attention_mistakes.swaps_axes_from_the_front(swaps_axes_1_and_2, also=[swaps_axes_2_and_3]),
]
