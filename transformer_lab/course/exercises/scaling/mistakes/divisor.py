"""What goes wrong when scores are divided by √d_k."""

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


def root_of_the_number_of_keys(queries, keys, values):
    return _divided(queries, keys, values, keys.shape[-2] ** 0.5)


def root_of_the_number_of_queries(queries, keys, values):
    return _divided(queries, keys, values, queries.shape[-2] ** 0.5)


def root_of_the_first_length(queries, keys, values):
    return _divided(queries, keys, values, len(keys) ** 0.5)


def root_of_the_first_length_of_the_queries(queries, keys, values):
    return _divided(queries, keys, values, len(queries) ** 0.5)


def root_of_the_second_length(queries, keys, values):
    return _divided(queries, keys, values, keys.shape[1] ** 0.5)


def root_of_the_second_length_of_the_queries(queries, keys, values):
    return _divided(queries, keys, values, queries.shape[1] ** 0.5)


def root_of_d_v(queries, keys, values):
    return _divided(queries, keys, values, values.shape[-1] ** 0.5)


def a_fixed_width(queries, keys, values):
    return _divided(queries, keys, values, 64**0.5)


def the_width_of_the_experiment(queries, keys, values):
    return _divided(queries, keys, values, 512**0.5)


def the_width_of_the_last_loop(queries, keys, values):
    return _divided(queries, keys, values, 1024**0.5)


def a_width_from_nowhere(queries, keys, values):
    return torch.softmax(queries @ keys.mT / d_k**0.5, dim=-1) @ values  # type: ignore[name-defined]  # noqa: F821


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
        no_scaling,
        "The scores are not scaled: at large d_k most rows put nearly all their weight on one key.",
        [
            "How does the spread of q·k grow with d_k? `score_variance` says it.",
            "By what must the scores be divided so that their variance is 1 again?",
            "Divide by the square root of `queries.shape[-1]`, before the softmax.",
        ],
    ),
    Mistake(
        divides_by_d_k,
        "The scores shrink towards 0 as d_k grows, and the weights become uniform: dividing by d_k is too much. Look "
        "at how dividing changes a variance.",
        [
            "If all scores are divided by c, what happens to their variance?",
            "Var(s / c) = Var(s) / c². With Var(s) = d_k, which c gives 1?",
            "The *root* of d_k: `queries.shape[-1] ** 0.5`.",
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
        "The scores are multiplied by √d_k: they get larger instead of smaller. Look at the direction of the scaling.",
        [
            "Are the scores of wide vectors too large or too small?",
            "Watch the order of `*`, `/` and `**` in the line.",
            "Divide by √d_k.",
        ],
    ),
    Mistake(
        root_of_the_number_of_keys,
        "The divisor is the root of the number of keys. How many keys there are has nothing to do with the size of a "
        "single score: look at which length is taken.",
        [
            "How many products are added up in one score?",
            "`shape[-2]` counts vectors, `shape[-1]` is their width.",
            "d_k is `queries.shape[-1]`.",
        ],
    ),
    Mistake(
        root_of_the_number_of_queries,
        "The divisor is the root of the number of queries. A score does not know how many other queries there are: "
        "look at which length is taken.",
        [
            "How many products are added up in one score?",
            "`shape[-2]` counts vectors, `shape[-1]` is their width.",
            "d_k is `queries.shape[-1]`.",
        ],
    ),
    Mistake(
        root_of_the_first_length,
        "The divisor is the root of the *first* length: `len(…)` and `shape[0]` count the vectors of a table, or the "
        "tables of a batch. Neither changes the size of a single score. Look at which length is taken.",
        [
            "How many products are added up in one score?",
            "Of keys of shape (7, 3, 4), `len` is 7. Which of the three numbers is d_k, and where does it stand?",
            "d_k is the last one: `queries.shape[-1]`.",
        ],
        also=[root_of_the_first_length_of_the_queries],
    ),
    Mistake(
        root_of_the_second_length,
        "Right for one table; with a batch in front, `shape[1]` counts vectors, because it is counted from the front. "
        "Look at how the width is found.",
        [
            "Of keys of shape (7, 3, 4), `shape[1]` is 3. Which of the numbers is d_k?",
            "Which index means the last length, however many stand in front?",
            "`queries.shape[-1]`.",
        ],
        also=[root_of_the_second_length_of_the_queries],
    ),
    Mistake(
        root_of_d_v,
        "The divisor is the root of the width of the *values*. It often equals that of the keys, and then nobody "
        "notices, but the values take no part in the scores.",
        [
            "Which vectors are multiplied in a score?",
            "How many products are added up in q·k?",
            "Take the width from the queries: `queries.shape[-1]`.",
        ],
    ),
    Mistake(
        a_fixed_width,
        "The divisor is the same number whatever the width of the vectors: a fixed one, or one that another cell of "
        "the notebook has left behind. Look at where the divisor comes from.",
        [
            "Does every name in the function stand for an argument, or for something made inside it?",
            "The width has to be read off the arguments, at every call.",
            "`d_k = queries.shape[-1]`, inside the function.",
        ],
        also=[the_width_of_the_experiment, the_width_of_the_last_loop],
    ),
    Mistake(
        a_width_from_nowhere,
        "`d_k` is not the name of anything: the function is given queries, keys and values, and the width has to be "
        "found in them.",
        [
            "Which argument knows how wide the vectors are?",
            "`queries.shape` holds all its lengths. At which end stands the width?",
            "First line of the function: `d_k = queries.shape[-1]`.",
        ],
    ),
    Mistake(
        root_of_an_int,
        "`torch.sqrt` takes tensors, and a length is an ordinary Python number: it crashes. Look for the root of a "
        "number.",
        [
            "What is the type of `queries.shape[-1]`?",
            "The module `math` has functions for ordinary numbers.",
            "`math.sqrt(…)`, or `** 0.5`.",
        ],
    ),
    Mistake(
        the_measured_spread,
        "The scores are divided by their own standard deviation. That comes near √d_k for many scores of random "
        "vectors, but it depends on which others are in the batch, and takes away any sharpness that was learned. The "
        "divisor should depend on the width alone.",
        [
            "If the queries are made 10 times longer, should the weights change? With this divisor they do not.",
            "`score_variance` says how large scores are *expected* to be, from d_k alone.",
            "Divide by the root of `queries.shape[-1]`.",
        ],
        also=[the_measured_spread_of_each_row],
    ),
    Mistake(
        scales_the_weights,
        "The weights no longer add up to 1, and they are as sharp as before: the scaling comes after the softmax. Look "
        "at where the division stands.",
        [
            "What do the rows of the weights add up to?",
            "Which numbers got too large: the weights or the scores?",
            "Divide the scores, before the softmax.",
        ],
    ),
    Mistake(
        scales_twice,
        "Queries, keys and values are each divided by √d_k. A score is a product of two of these, so it is divided by "
        "d_k, and the values should not be touched at all.",
        [
            "By what is q·k divided if q and k are each divided by √d_k?",
            "The values play no part in the scores.",
            "Divide the scores once by √d_k.",
        ],
    ),
]
