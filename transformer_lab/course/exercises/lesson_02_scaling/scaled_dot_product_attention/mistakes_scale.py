"""What goes wrong when scores are divided by √d_k: by something else, too often, or in the wrong place."""

import torch

from transformer_lab.course.exercise import Mistake


def _divided(queries, keys, values, by):
    return torch.softmax(queries @ keys.mT / by, dim=-1) @ values


def no_scaling(queries, keys, values):
    return torch.softmax(queries @ keys.mT, dim=-1) @ values


def divides_by_d_k(queries, keys, values):
    return _divided(queries, keys, values, queries.shape[-1])


def power_without_brackets(queries, keys, values):
    d_k = queries.shape[-1]
    return torch.softmax(queries @ keys.mT / d_k ** 1 / 2, dim=-1) @ values  # fmt: skip


def half_of_d_k(queries, keys, values):
    return _divided(queries, keys, values, queries.shape[-1] / 2)


def multiplies_by_the_root(queries, keys, values):
    return torch.softmax(queries @ keys.mT * queries.shape[-1] ** 0.5, dim=-1) @ values


def root_of_an_int(queries, keys, values):
    return _divided(queries, keys, values, torch.sqrt(queries.shape[-1]))


def the_measured_spread(queries, keys, values):
    scores = queries @ keys.mT
    return torch.softmax(scores / scores.std(), dim=-1) @ values


def the_measured_spread_of_each_row(queries, keys, values):
    scores = queries @ keys.mT
    return torch.softmax(scores / scores.std(dim=-1, keepdim=True), dim=-1) @ values


def scales_the_weights(queries, keys, values):
    return torch.softmax(queries @ keys.mT, dim=-1) / queries.shape[-1] ** 0.5 @ values


def scales_twice(queries, keys, values):
    d_k = queries.shape[-1]
    return torch.softmax((queries / d_k**0.5) @ (keys / d_k**0.5).mT, dim=-1) @ (values / d_k**0.5)


MISTAKES = [
    Mistake(
        "no_scaling",
        [no_scaling],
        says="The scores are not scaled: at large d_k most rows put nearly all their weight on one key.",
        hints=[
            "How does the spread of q·k grow with d_k? `score_variance` says it.",
            "By what must the scores be divided so that their variance is 1 again?",
            "Divide by the square root of `queries.shape[-1]`, before the softmax.",
        ],
    ),
    Mistake(
        "divides_by_d_k",
        [divides_by_d_k],
        says=(
            "The scores shrink towards 0 as d_k grows, and the weights become uniform: dividing by d_k is too much. Look "
            "at how dividing changes a variance."
        ),
        hints=[
            "If all scores are divided by c, what happens to their variance?",
            "Var(s / c) = Var(s) / c². With Var(s) = d_k, which c gives 1?",
            "The *root* of d_k: `queries.shape[-1] ** 0.5`.",
        ],
    ),
    Mistake(
        "power_without_brackets",
        [power_without_brackets, half_of_d_k],
        says=(
            "A power of one half is meant, and Python reads something else: `**` binds more tightly than `/`. Look at what "
            "the scores are really divided by."
        ),
        hints=[
            "In a new cell, try `64 ** 1 / 2`. Is it 8?",
            "A power is taken first, then everything else from left to right.",
            "Write the exponent as one number, 0.5, or use `math.sqrt`.",
        ],
    ),
    Mistake(
        "multiplies_by_the_root",
        [multiplies_by_the_root],
        says="The scores are multiplied by √d_k: they get larger instead of smaller. Look at the direction of the scaling.",
        hints=[
            "Are the scores of wide vectors too large or too small?",
            "Watch the order of `*`, `/` and `**` in the line.",
            "Divide by √d_k.",
        ],
    ),
    Mistake(
        "root_of_an_int",
        [root_of_an_int],
        says=(
            "`torch.sqrt` takes tensors, and a length is an ordinary Python number: it crashes. Look for the root of a "
            "number."
        ),
        hints=[
            "What is the type of `queries.shape[-1]`?",
            "The module `math` has functions for ordinary numbers.",
            "`math.sqrt(…)`, or `** 0.5`.",
        ],
    ),
    Mistake(
        "the_measured_spread",
        [the_measured_spread, the_measured_spread_of_each_row],
        says=(
            "The scores are divided by their own standard deviation. That comes near √d_k for many scores of random "
            "vectors, but it depends on which others are in the batch, and takes away any sharpness that was learned. The "
            "divisor should depend on the width alone."
        ),
        hints=[
            "If the queries are made 10 times longer, should the weights change? With this divisor they do not.",
            "`score_variance` says how large scores are *expected* to be, from d_k alone.",
            "Divide by the root of `queries.shape[-1]`.",
        ],
    ),
    Mistake(
        "scales_the_weights",
        [scales_the_weights],
        says=(
            "The weights no longer add up to 1, and they are as sharp as before: the scaling comes after the softmax. Look "
            "at where the division stands."
        ),
        hints=[
            "What do the rows of the weights add up to?",
            "Which numbers got too large: the weights or the scores?",
            "Divide the scores, before the softmax.",
        ],
    ),
    Mistake(
        "scales_twice",
        [scales_twice],
        says=(
            "Queries, keys and values are each divided by √d_k. A score is a product of two of these, so it is divided by "
            "d_k, and the values should not be touched at all."
        ),
        hints=[
            "By what is q·k divided if q and k are each divided by √d_k?",
            "The values play no part in the scores.",
            "Divide the scores once by √d_k.",
        ],
    ),
]
