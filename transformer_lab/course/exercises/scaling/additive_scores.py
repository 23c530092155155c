"""Scores by a small network instead of a dot product."""

import torch
from torch import Tensor

from transformer_lab.additive import additive_scores
from transformer_lab.course.call import Case
from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.drawing import generator, normal


def additive_scores_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def inputs(batch: int, n_query: int, n_key: int, d_q: int, d_k: int, d_h: int) -> dict[str, Tensor]:
        return {
            "queries": normal(rng, batch, n_query, d_q),
            "keys": normal(rng, batch, n_key, d_k),
            "w_q": normal(rng, d_h, d_q),
            "w_k": normal(rng, d_h, d_k),
            "w": normal(rng, d_h),
        }

    return [
        Case(inputs(1, 1, 1, 2, 2, 3), "one query, one key"),
        Case(inputs(1, 2, 2, 3, 3, 4), "2 queries, 2 keys, both of width 3"),
        Case(inputs(2, 3, 5, 4, 6, 7), "a batch of 2: 3 queries of width 4, 5 keys of width 6"),
        Case(inputs(3, 23, 29, 11, 13, 17), "a batch of 3: 23 queries of width 11, 29 keys of width 13"),
    ]


def _hidden(queries, keys, w_q, w_k):
    return (queries @ w_q.mT).unsqueeze(-2) + (keys @ w_k.mT).unsqueeze(-3)


def no_tanh(queries, keys, w_q, w_k, w):
    return _hidden(queries, keys, w_q, w_k) @ w


def tanh_at_the_end(queries, keys, w_q, w_k, w):
    return torch.tanh(_hidden(queries, keys, w_q, w_k) @ w)


def tanh_before_adding(queries, keys, w_q, w_k, w):
    return (torch.tanh(queries @ w_q.mT).unsqueeze(-2) + torch.tanh(keys @ w_k.mT).unsqueeze(-3)) @ w


def multiplies_instead_of_adding(queries, keys, w_q, w_k, w):
    return torch.tanh((queries @ w_q.mT).unsqueeze(-2) * (keys @ w_k.mT).unsqueeze(-3)) @ w


def relu_instead_of_tanh(queries, keys, w_q, w_k, w):
    return torch.relu(_hidden(queries, keys, w_q, w_k)) @ w


def query_i_with_key_i(queries, keys, w_q, w_k, w):
    return torch.tanh(queries @ w_q.mT + keys @ w_k.mT) @ w


def matrices_swapped(queries, keys, w_q, w_k, w):
    return torch.tanh(_hidden(queries, keys, w_k, w_q)) @ w


def rows_are_keys(queries, keys, w_q, w_k, w):
    return (torch.tanh(_hidden(queries, keys, w_q, w_k)) @ w).mT


def weights_instead_of_scores(queries, keys, w_q, w_k, w):
    return torch.softmax(torch.tanh(_hidden(queries, keys, w_q, w_k)) @ w, dim=-1)


ADDITIVE_SCORES = Exercise(
    reference=additive_scores,
    cases=additive_scores_cases,
    points=3,
    verified="Every query meets every key, and their widths may differ. Next: what it costs beside a dot product.",
    hints=[
        "Bring both into the same width first: `queries @ w_q.mT` has the shape (batch, n_query, d_h), and the keys "
        "go likewise.",
        "Every query meets every key: give the queries the shape (batch, n_query, 1, d_h) and the keys (batch, 1, "
        "n_key, d_h), and broadcasting forms all the sums.",
        "tanh of the sums, then the dot product with `w` along the last axis.",
    ],
    mistakes=[
        Mistake(
            no_tanh,
            "The tanh is missing. Without it a score is (something of the query) + (something of the key): the best "
            "key is the same for every query.",
            [
                "Compare with the formula: w · tanh(W_q q + W_k k).",
                "Between the sum and the product with `w` a step is missing.",
                "`torch.tanh` of the sums.",
            ],
        ),
        Mistake(
            tanh_at_the_end,
            "The tanh stands round the whole score, which squeezes every score between -1 and 1. Look at the order: "
            "which comes first, tanh or w?",
            [
                "In w · tanh(…), what is inside the tanh?",
                "The tanh works on vectors of width d_h, before `w` makes one number of them.",
                "tanh of the sums, then `@ w`.",
            ],
        ),
        Mistake(
            tanh_before_adding,
            "You take the tanh of each side and then add. The scores fall apart into a part of the query and a part of "
            "the key, and the best key is the same for every query. Look at what the tanh should see.",
            [
                "In tanh(W_q q + W_k k), which happens first?",
                "Query and key have to meet *inside* the tanh.",
                "Add first, then tanh.",
            ],
        ),
        Mistake(
            multiplies_instead_of_adding,
            "Query and key are multiplied inside the tanh. This kind of attention is called additive: look at the sign "
            "between them.",
            [
                "Compare with w · tanh(W_q q + W_k k).",
                "Broadcasting works the same for + as for *.",
                "Add.",
            ],
        ),
        Mistake(
            relu_instead_of_tanh,
            "You use ReLU where the formula has tanh. It can work as attention too, but it is not what was asked for.",
            [
                "Which function stands in the formula?",
                "It maps to between -1 and 1.",
                "`torch.tanh`.",
            ],
        ),
        Mistake(
            query_i_with_key_i,
            "You add query i to key i only: one score each, or a crash as soon as their numbers differ. Every query "
            "has to meet every key.",
            [
                "How many scores are there for 3 queries and 5 keys?",
                "Broadcasting forms all pairs if each side has length 1 where the other has its own.",
                "`.unsqueeze(-2)` for the queries, `.unsqueeze(-3)` for the keys.",
            ],
        ),
        Mistake(
            matrices_swapped,
            "`w_q` and `w_k` have changed places. That crashes where the widths differ; where they do not, it is "
            "silently wrong.",
            [
                "Which matrix has d_q columns?",
                "`w_q` belongs to the queries.",
                "`queries @ w_q.mT`, `keys @ w_k.mT`.",
            ],
        ),
        Mistake(
            rows_are_keys,
            "Your table has one row per key. It should have one row per query and one column per key.",
            [
                "What shape do you get for 3 queries and 5 keys?",
                "Look at which side you give the extra axis.",
                "The queries vary along the second-to-last axis: `.unsqueeze(-2)` puts the keys' axis behind it.",
            ],
        ),
        Mistake(
            weights_instead_of_scores,
            "These are weights: they add up to 1. The scores before the softmax are asked for.",
            [
                "Is there a softmax in your code?",
                "The function is called additive_*scores*.",
                "Return what goes into the softmax.",
            ],
        ),
    ],
)
