"""What goes wrong in additive scores before tanh: with the two matrices, and with the pairs of query and key."""

import torch

from transformer_lab.course.exercise import Mistake
from transformer_lab.course.exercises.shared import old_mistakes as attention_mistakes


def _hidden(queries, keys, w_q, w_k):
    return (queries @ w_q.mT)[:, :, None, :] + (keys @ w_k.mT)[:, None, :, :]


def pairs_from_the_front(queries, keys, w_q, w_k, w):
    return torch.tanh((queries @ w_q.mT)[:, None] + (keys @ w_k.mT)[None]) @ w


def query_i_with_key_i(queries, keys, w_q, w_k, w):
    return torch.tanh(queries @ w_q.mT + keys @ w_k.mT) @ w


def matrices_not_transposed(queries, keys, w_q, w_k, w):
    return torch.tanh((queries @ w_q)[:, :, None, :] + (keys @ w_k)[:, None, :, :]) @ w


def matrix_of_the_keys_not_transposed(queries, keys, w_q, w_k, w):
    return torch.tanh((queries @ w_q.mT)[:, :, None, :] + (keys @ w_k)[:, None, :, :]) @ w


def matrices_on_the_left(queries, keys, w_q, w_k, w):
    return torch.tanh((w_q @ queries)[:, :, None, :] + (w_k @ keys)[:, None, :, :]) @ w


def queries_as_columns(queries, keys, w_q, w_k, w):
    return torch.tanh((w_q @ queries.mT)[:, :, None, :] + (w_k @ keys.mT)[:, None, :, :]) @ w


def queries_as_columns_in_pairs(queries, keys, w_q, w_k, w):
    return torch.tanh((w_q @ queries.mT)[:, :, :, None] + (w_k @ keys.mT)[:, :, None, :]) @ w


def matrices_swapped(queries, keys, w_q, w_k, w):
    return torch.tanh(_hidden(queries, keys, w_k, w_q)) @ w


def rows_are_keys(queries, keys, w_q, w_k, w):
    return (torch.tanh(_hidden(queries, keys, w_q, w_k)) @ w).mT


MISTAKES = [
    attention_mistakes.pairs_from_the_front(pairs_from_the_front),
    Mistake(
        "query_i_with_key_i",
        [query_i_with_key_i],
        says=(
            "Query i is added to key i only: one score each, or a crash as soon as their numbers differ. Every query has "
            "to meet every key. Look at the shapes that are added."
        ),
        hints=[
            "How many scores are there for 3 queries and 5 keys?",
            "Broadcasting forms all pairs if each side has length 1 where the other has its own: (batch, n_query, 1, "
            "d_h) and (batch, 1, n_key, d_h).",
            "`[:, :, None, :]` for the queries, `[:, None, :, :]` for the keys.",
        ],
    ),
    Mistake(
        "matrices_not_transposed",
        [matrices_not_transposed, matrix_of_the_keys_not_transposed],
        says=(
            "`w_q` has the shape (d_h, d_q), so the width of the queries meets d_h. That crashes, or, where the two are "
            "equal, is silently wrong. Look at the shapes on both sides of the `@`."
        ),
        hints=[
            "(n_query, d_q) @ (d_h, d_q): which two numbers have to be equal in a matrix product?",
            "The formula W_q q has q as a column. Here the queries are rows, so the matrix has to be turned.",
            "`queries @ w_q.mT`, and the same for the keys.",
        ],
    ),
    Mistake(
        "matrices_on_the_left",
        [matrices_on_the_left],
        says=(
            "With `w_q` on the left, d_q meets the *number* of queries. That crashes, or, where the two are equal, mixes "
            "the queries with each other. Look at the shapes on both sides of the `@`."
        ),
        hints=[
            "(d_h, d_q) @ (n_query, d_q): which two numbers have to be equal in a matrix product?",
            "W_q q stands for a single q, as a column. The queries here are rows: put them on the left.",
            "`queries @ w_q.mT`, and the same for the keys.",
        ],
    ),
    Mistake(
        "queries_as_columns",
        [queries_as_columns, queries_as_columns_in_pairs],
        says=(
            "`w_q @ queries.mT` is W_q q for every query, but as columns: its shape is (batch, d_h, n_query), and what "
            "follows takes the width for the last axis. Look at the order of the axes before the sum."
        ),
        hints=[
            "On which axis do the hidden widths lie after this product, and on which should they?",
            "(A B)ᵀ = Bᵀ Aᵀ: with the queries in front, as rows, they come out as rows.",
            "`queries @ w_q.mT`, and the same for the keys.",
        ],
    ),
    Mistake(
        "matrices_swapped",
        [matrices_swapped],
        says=(
            "`w_q` and `w_k` have changed places. That crashes where the widths differ; where they do not, it is silently "
            "wrong."
        ),
        hints=[
            "Which matrix has d_q columns?",
            "`w_q` belongs to the queries.",
            "`queries @ w_q.mT`, `keys @ w_k.mT`.",
        ],
    ),
    Mistake(
        "rows_are_keys",
        [rows_are_keys],
        says="The table has one row per key. It should have one row per query and one column per key.",
        hints=[
            "What shape comes out for 3 queries and 5 keys?",
            "Look at which side gets the extra axis where.",
            "The queries vary along the second-to-last axis of the scores: `[:, :, None, :]` puts the keys' axis "
            "behind it.",
        ],
    ),
]
