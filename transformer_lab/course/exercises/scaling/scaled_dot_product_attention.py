"""Attention whose scores keep their size whatever d_k is."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.drawing import attention_cases


def scaled_dot_product_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Let every query mix the values, by scores that keep their size whatever d_k is."""
    d_k = queries.shape[-1]
    scores = queries @ keys.transpose(-2, -1) / d_k**0.5
    return torch.softmax(scores, dim=-1) @ values


def _scaled(factor, queries, keys, values, dim=-1):
    return torch.softmax(queries @ keys.mT * factor, dim=dim) @ values


def no_scaling(queries, keys, values):
    return _scaled(1, queries, keys, values)


def divides_by_d_k(queries, keys, values):
    return _scaled(1 / queries.shape[-1], queries, keys, values)


def power_without_brackets(queries, keys, values):
    d_k = queries.shape[-1]
    return torch.softmax(queries @ keys.mT / d_k ** 1 / 2, dim=-1) @ values  # fmt: skip


def half_of_d_k(queries, keys, values):
    return _scaled(1 / (queries.shape[-1] / 2), queries, keys, values)


def multiplies_by_the_root(queries, keys, values):
    return _scaled(queries.shape[-1] ** 0.5, queries, keys, values)


def root_of_the_number_of_keys(queries, keys, values):
    return _scaled(keys.shape[-2] ** -0.5, queries, keys, values)


def root_of_the_number_of_queries(queries, keys, values):
    return _scaled(queries.shape[-2] ** -0.5, queries, keys, values)


def root_of_d_v(queries, keys, values):
    return _scaled(values.shape[-1] ** -0.5, queries, keys, values)


def scales_the_weights(queries, keys, values):
    return _scaled(1, queries, keys, values) / queries.shape[-1] ** 0.5


def scales_twice(queries, keys, values):
    d_k = queries.shape[-1]
    return _scaled(1, queries / d_k**0.5, keys / d_k**0.5, values / d_k**0.5)


def scaled_softmax_over_queries(queries, keys, values):
    return _scaled(queries.shape[-1] ** -0.5, queries, keys, values, dim=-2)


SCALED_DOT_PRODUCT_ATTENTION = Exercise(
    reference=scaled_dot_product_attention,
    cases=attention_cases,
    points=3,
    verified="Scores are divided by √d_k before the softmax, for any leading dimensions: equation 1 of the paper. "
    "Next: what the softmax does to the gradients when they are not.",
    hints=[
        "Only one thing is new against `attention` of lesson 01. The variance of a score is d_k: what must a score be "
        "divided by to have variance 1?",
        "Dividing by c divides the variance by c². Which c turns d_k into 1?",
        "Divide the scores by √d_k, before the softmax. d_k is the width of the queries: `queries.shape[-1]`.",
    ],
    mistakes=[
        Mistake(
            no_scaling,
            "The scores are not scaled: at large d_k most rows put nearly all their weight on one key.",
            [
                "How does the spread of q·k grow with d_k? `score_variance` says it.",
                "By what must you divide the scores so that their variance is 1 again?",
                "Divide by the square root of `queries.shape[-1]`, before the softmax.",
            ],
        ),
        Mistake(
            divides_by_d_k,
            "You divide by d_k, which is too much: the scores shrink towards 0 as d_k grows, and the weights become "
            "uniform. Look at how dividing changes a variance.",
            [
                "If all scores are divided by c, what happens to their variance?",
                "Var(s / c) = Var(s) / c². With Var(s) = d_k, which c gives 1?",
                "The *root* of d_k.",
            ],
        ),
        Mistake(
            power_without_brackets,
            "You mean a power of one half, and Python reads something else: `**` binds more tightly than `/`. Look at "
            "what your scores are really divided by.",
            [
                "In a new cell, try `64 ** 1 / 2`. Is it 8?",
                "A power is taken first, then everything else from left to right.",
                "Write the exponent as one number, 0.5, or use `math.sqrt`.",
            ],
            also=[half_of_d_k],
        ),
        Mistake(
            multiplies_by_the_root,
            "The scores are multiplied by √d_k: they get larger instead of smaller. Look at the direction of your "
            "scaling.",
            [
                "Are the scores of wide vectors too large or too small?",
                "Watch the order of `*`, `/` and `**` in your line.",
                "Divide by √d_k.",
            ],
        ),
        Mistake(
            root_of_the_number_of_keys,
            "You divide by the root of the number of keys. How many keys there are has nothing to do with the size of "
            "a single score: look at which length you take.",
            [
                "How many products are added up in one score?",
                "`shape[-2]` counts vectors, `shape[-1]` is their width.",
                "d_k is `queries.shape[-1]`.",
            ],
        ),
        Mistake(
            root_of_the_number_of_queries,
            "You divide by the root of the number of queries. A score does not know how many other queries there are: "
            "look at which length you take.",
            [
                "How many products are added up in one score?",
                "`shape[-2]` counts vectors, `shape[-1]` is their width.",
                "d_k is `queries.shape[-1]`.",
            ],
        ),
        Mistake(
            root_of_d_v,
            "You divide by the root of the width of the *values*. It often equals that of the keys, and then nobody "
            "notices, but the values take no part in the scores.",
            [
                "Which vectors are multiplied in a score?",
                "How many products are added up in q·k?",
                "Take the width from the queries or keys.",
            ],
        ),
        Mistake(
            scales_the_weights,
            "You scale after the softmax. The weights no longer add up to 1, and they are as sharp as before. Look at "
            "where the division stands.",
            [
                "What do the rows of your weights add up to?",
                "Which numbers got too large: the weights or the scores?",
                "Divide the scores, before the softmax.",
            ],
        ),
        Mistake(
            scales_twice,
            "You divide queries, keys and values each by √d_k. A score is a product of two of these, so it is divided "
            "by d_k, and the values should not be touched at all.",
            [
                "By what is q·k divided if q and k are each divided by √d_k?",
                "The values play no part in the scores.",
                "Divide the scores once by √d_k.",
            ],
        ),
        Mistake(
            scaled_softmax_over_queries,
            "The scaling is right, but the weights add up to 1 over the queries instead of over the keys. Look at the "
            "axis of the softmax.",
            [
                "Sum your weights along each axis.",
                "Each query spreads one unit of attention over the *keys*: the last axis.",
                "`dim=-1`.",
            ],
        ),
    ],
)
