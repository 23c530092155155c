"""What goes wrong when one query is looked up: with how its weights mix the values."""

import torch

from transformer_lab.course.exercise import Mistake


def _weights(query, keys):
    return torch.softmax(keys @ query, dim=0)


def mixes_the_keys(query, keys, values):
    return _weights(query, keys) @ keys


def only_the_weights(query, keys, values):
    return _weights(query, keys)


def values_not_added(query, keys, values):
    return _weights(query, keys)[:, None] * values


def adds_over_the_width(query, keys, values):
    return (_weights(query, keys)[:, None] * values).sum(dim=-1)


def adds_everything(query, keys, values):
    return (_weights(query, keys)[:, None] * values).sum()


def averages_once_more(query, keys, values):
    return (_weights(query, keys)[:, None] * values).mean(dim=0)


def weights_along_the_width(query, keys, values):
    return _weights(query, keys) * values


def weights_along_the_width_behind(query, keys, values):
    return values * _weights(query, keys)


def weights_along_the_width_added(query, keys, values):
    return (_weights(query, keys) * values).sum(dim=0)


def weights_along_the_width_behind_added(query, keys, values):
    return (values * _weights(query, keys)).sum(dim=0)


def weights_along_the_width_added_across(query, keys, values):
    return (_weights(query, keys) * values).sum(dim=-1)


def weights_along_the_width_all_added(query, keys, values):
    return (_weights(query, keys) * values).sum()


def values_on_the_left(query, keys, values):
    return values @ _weights(query, keys)


def values_transposed(query, keys, values):
    return _weights(query, keys) @ values.mT


def one_row_too_many(query, keys, values):
    return _weights(query, keys)[None] @ values


def one_column_too_many(query, keys, values):
    return values.mT @ _weights(query, keys)[:, None]


MISTAKES = [
    Mistake(
        "mixes_the_keys",
        [mixes_the_keys],
        says="The keys are mixed. They have done their work once the weights are known; the values are handed over.",
        hints=[
            "Which width should the result have, that of the keys or that of the values?",
            "In a dict, does one get the key back, or what is stored under it?",
            "Multiply the weights by `values`.",
        ],
    ),
    Mistake(
        "only_the_weights",
        [only_the_weights],
        says="These are the weights, one number per key. The values have not been mixed yet.",
        hints=[
            "Do the values occur in the code at all?",
            "How many numbers should come out: as many as there are keys, or as many as a value has entries?",
            "Multiply the weights by the values: `weights @ values`.",
        ],
    ),
    Mistake(
        "values_not_added",
        [values_not_added],
        says=(
            "Each value has been multiplied by its weight, but they are not added up: one row per key comes out. Look at "
            "the shape."
        ),
        hints=[
            "How many vectors should come out of one lookup?",
            "A weighted average is a *sum* of weight times value.",
            "Add along the axis of the keys, `dim=0`, or use a matrix product.",
        ],
    ),
    Mistake(
        "adds_over_the_width",
        [adds_over_the_width, adds_everything],
        says=(
            "One number per key comes out, or a single one: the sum runs along the width, so the entries of each value are "
            "added to each other. The *values* should be added. Look at the axis of the sum."
        ),
        hints=[
            "How many numbers should come out for values of width 5?",
            "The weighted values have the shape (n, d_v). Which of the two axes should be gone at the end?",
            "Add along the axis of the keys: `dim=0`.",
        ],
    ),
    Mistake(
        "averages_once_more",
        [averages_once_more],
        says=(
            "All numbers are too small by one factor, the number of keys: a mean is taken of the weighted values. The "
            "weights make it an average already."
        ),
        hints=[
            "With two keys that match equally well, the weights are ½ and ½. What is ½·4 + ½·6, and what comes out?",
            "A mean is a sum divided by how many there are.",
            "`sum` in place of `mean`.",
        ],
    ),
    Mistake(
        "weights_along_the_width",
        [
            weights_along_the_width,
            weights_along_the_width_behind,
            weights_along_the_width_added,
            weights_along_the_width_behind_added,
            weights_along_the_width_added_across,
            weights_along_the_width_all_added,
        ],
        says=(
            "In `weights * values`, broadcasting lines the n weights up with the *width* of the values. That crashes, or, "
            "where the numbers happen to fit, weighs entries instead of values. Look at the two shapes."
        ),
        hints=[
            "Broadcasting lines shapes up from the right: (n,) and (n, d_v). Which axes meet?",
            "Each weight should meet a whole row of `values`. With which shape of the weights does it?",
            "`weights[:, None] * values`, added up over the keys; or a matrix product, which does both.",
        ],
    ),
    Mistake(
        "values_on_the_left",
        [values_on_the_left, values_transposed],
        says=(
            "The product pairs the n weights with the *width* of the values. That crashes, or, where the numbers happen to "
            "fit, mixes the entries of each value instead of the values. Look at the order of the product."
        ),
        hints=[
            "(n, d_v) @ (n,): which two numbers would have to be equal?",
            "The axis of the keys has to meet the axis of the keys.",
            "`weights @ values`: (n,) @ (n, d_v) gives (d_v,).",
        ],
    ),
    Mistake(
        "one_row_too_many",
        [one_row_too_many, one_column_too_many],
        says=(
            "The numbers are right, but they lie in a table with an axis of length 1. One query gives one plain vector of "
            "width d_v. Look at the shape."
        ),
        hints=[
            "Print the shape of the result. Which axis has length 1?",
            "A `[None]`, a `[:, None]` or an `unsqueeze` has never been undone.",
            "A product of (n,) and (n, d_v) needs no extra axis: `weights @ values`.",
        ],
    ),
]
