"""Look many queries up at once."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.drawing import attention_cases
from transformer_lab.course.exercises.lookup.attention_weights import (
    attention_weights,
    raw_scores,
    scaled_too_early,
    softmax_over_queries,
)


def attention(
    queries: Float[Tensor, "*batch n_query d"],
    keys: Float[Tensor, "*batch n_key d"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Look every query up: mix the values by how well the keys match it."""
    weights = torch.softmax(queries @ keys.transpose(-2, -1), dim=-1)
    return weights @ values


def attention_without_softmax(queries, keys, values):
    return raw_scores(queries, keys) @ values


def attention_over_queries(queries, keys, values):
    return softmax_over_queries(queries, keys) @ values


def attention_to_the_keys(queries, keys, values):
    return attention_weights(queries, keys) @ keys


def only_the_weights(queries, keys, values):
    return attention_weights(queries, keys)


def only_the_best(queries, keys, values):
    best = (queries @ keys.mT).argmax(dim=-1, keepdim=True)
    return torch.take_along_dim(values, best, dim=-2)


def weights_transposed(queries, keys, values):
    return attention_weights(queries, keys).mT @ values


def attention_scaled_too_early(queries, keys, values):
    return scaled_too_early(queries, keys) @ values


ATTENTION = Exercise(
    reference=attention,
    cases=attention_cases,
    points=3,
    verified="The output has one row per query and the width of the values, for any leading dimensions. "
    "Next, in lesson 02: what goes wrong when the vectors get wide.",
    hints=[
        "It is `soft_lookup` for many queries at once. Which of its steps do you already have for many queries?",
        "`parts.attention_weights(queries, keys)` has the shape (n_query, n_key), `values` has (n_key, d_v). What "
        "gives (n_query, d_v)?",
        "A matrix product of the weights and the values: row i of the result is the sum of all values, weighted by row "
        "i of the weights.",
    ],
    mistakes=[
        Mistake(
            attention_without_softmax,
            "The values are mixed by raw scores: nothing makes the weights positive or lets them add up to 1. A step "
            "is missing.",
            [
                "With one query and one key, the output must be the value itself. Is yours?",
                "What does lesson 01 do between scoring and mixing?",
                "Use `parts.attention_weights`, or a softmax over the last axis of the scores.",
            ],
        ),
        Mistake(
            attention_over_queries,
            "The weights add up to 1 down each column: the queries compete for each key, so an output is no longer an "
            "average of values. Look at the axis of your softmax.",
            [
                "With a single query your weights are all 1. What does the output become?",
                "For each query, the weights of all the *keys* add up to 1. Along which axis lie the keys?",
                "`dim=-1`.",
            ],
        ),
        Mistake(
            attention_to_the_keys,
            "You mix the keys with the weights. The keys only decide *how much*; what is handed over are the values.",
            [
                "Do the values occur in your code at all?",
                "The output has the width of the values.",
                "Weights times `values`.",
            ],
        ),
        Mistake(
            only_the_weights,
            "You return the weights. The values have not been mixed yet.",
            [
                "What shape is asked for, and what shape do you return?",
                "Row i of the weights says how much of each value query i takes.",
                "Multiply the weights by the values.",
            ],
        ),
        Mistake(
            only_the_best,
            "Each query gets the value of its best key only: a hard lookup. No gradient can tell the other keys to "
            "come closer. Every value should take part.",
            [
                "Where does your code choose instead of weighing?",
                "Replace argmax by something soft.",
                "softmax over the keys, then weights times values.",
            ],
        ),
        Mistake(
            weights_transposed,
            "The weights are the wrong way round: keys and queries have changed places in the last product. It crashes "
            "as soon as their numbers differ. Look at what stands in front of `values`.",
            [
                "(n_key, n_query) @ (n_key, d_v): which numbers have to be equal?",
                "Each *row* of the weights should hold one query's weights.",
                "Leave the transposition of the weights out.",
            ],
        ),
        Mistake(
            attention_scaled_too_early,
            "You divide the scores by √d: right in every Transformer, and the subject of lesson 02. Here the plain dot "
            "products are asked for.",
            [
                "The formula of this lesson is softmax(q kᵀ) v.",
                "Is there a square root in your code, or `F.scaled_dot_product_attention`?",
                "Leave the division out for now.",
            ],
        ),
    ],
)
