"""What goes wrong when one query is looked up."""

import torch

from transformer_lab.course.exercise import Mistake


def _weights(query, keys):
    return torch.softmax(keys @ query, dim=0)


def hard_lookup(query, keys, values):
    return values[(keys @ query).argmax()]


def scores_as_weights(query, keys, values):
    return (keys @ query) @ values


def divides_by_the_sum(query, keys, values):
    scores = keys @ query
    return (scores / scores.sum()) @ values


def mixes_the_keys(query, keys, values):
    return _weights(query, keys) @ keys


def scores_the_values(query, keys, values):
    return torch.softmax(values @ query, dim=0) @ values


def scores_the_values_by_sums(query, keys, values):
    return torch.softmax((values * query).sum(dim=-1), dim=0) @ values


def query_times_columns(query, keys, values):
    return torch.softmax(query @ keys, dim=0) @ values


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


def values_on_the_left(query, keys, values):
    return values @ _weights(query, keys)


def values_transposed(query, keys, values):
    return _weights(query, keys) @ values.mT


def one_row_too_many(query, keys, values):
    return _weights(query, keys)[None] @ values


def one_column_too_many(query, keys, values):
    return values.mT @ _weights(query, keys)[:, None]


def matches_by_cosine(query, keys, values):
    return torch.softmax(torch.cosine_similarity(query, keys, dim=-1), dim=0) @ values


MISTAKES = [
    Mistake(
        hard_lookup,
        "The one best value comes back: a hard lookup, as a dict does it. Here every value should take part, weighted "
        "by how well its key matches.",
        [
            "What comes out when two keys match equally well?",
            "Which function turns scores into weights that add up to 1?",
            "softmax of the scores, then the sum of weight times value.",
        ],
    ),
    Mistake(
        scores_as_weights,
        "The values are mixed by the raw scores. These may be negative and do not add up to 1, so the result is not an "
        "average of the values. A step is missing between scoring and mixing.",
        [
            "With a single key, the result should be its value exactly. Is it?",
            "What has to be true of weights in an average?",
            "Put a softmax between the scores and the sum.",
        ],
    ),
    Mistake(
        divides_by_the_sum,
        "The weights add up to 1, but those of keys with a negative score are negative: dividing by the sum is not a "
        "softmax. Look at how scores become weights.",
        [
            "What happens for the scores 1 and -1?",
            "Weights of an average are never negative.",
            "Use `parts.softmax` on the scores.",
        ],
    ),
    Mistake(
        mixes_the_keys,
        "The keys are mixed. They have done their work once the weights are known; the values are handed over.",
        [
            "Which width should the result have, that of the keys or that of the values?",
            "In a dict, does one get the key back, or what is stored under it?",
            "Multiply the weights by `values`.",
        ],
    ),
    Mistake(
        scores_the_values,
        "The query is compared with the values: that crashes where their widths differ, and elsewhere finds values "
        "that look like the question. Look at what the scores are made of.",
        [
            "In a dict, is the word looked for among the keys, or among what is stored under them?",
            "The keys are there to be compared. Do they occur in the code at all?",
            "Score the keys: `parts.similarity(query, keys)`.",
        ],
        also=[scores_the_values_by_sums],
    ),
    Mistake(
        query_times_columns,
        "`query @ keys` multiplies the query with the *columns* of `keys`. Each key is a row: this crashes, or, where "
        "there are as many keys as entries, gives nonsense. Look at the order of that product.",
        [
            "(d,) @ (n, d): which two numbers would have to be equal?",
            "With the keys on the left, (n, d) @ (d,), the widths meet.",
            "`keys @ query`, or `parts.similarity(query, keys)`.",
        ],
    ),
    Mistake(
        only_the_weights,
        "These are the weights, one number per key. The values have not been mixed yet.",
        [
            "Do the values occur in the code at all?",
            "How many numbers should come out: as many as there are keys, or as many as a value has entries?",
            "Multiply the weights by the values: `weights @ values`.",
        ],
    ),
    Mistake(
        values_not_added,
        "Each value has been multiplied by its weight, but they are not added up: one row per key comes out. Look at "
        "the shape.",
        [
            "How many vectors should come out of one lookup?",
            "A weighted average is a *sum* of weight times value.",
            "Add along the axis of the keys, `dim=0`, or use a matrix product.",
        ],
    ),
    Mistake(
        adds_over_the_width,
        "One number per key comes out, or a single one: the sum runs along the width, so the entries of each value are "
        "added to each other. The *values* should be added. Look at the axis of the sum.",
        [
            "How many numbers should come out for values of width 5?",
            "The weighted values have the shape (n, d_v). Which of the two axes should be gone at the end?",
            "Add along the axis of the keys: `dim=0`.",
        ],
        also=[adds_everything],
    ),
    Mistake(
        averages_once_more,
        "All numbers are too small by one factor, the number of keys: a mean is taken of the weighted values. The "
        "weights make it an average already.",
        [
            "With two keys that match equally well, the weights are ½ and ½. What is ½·4 + ½·6, and what comes out?",
            "A mean is a sum divided by how many there are.",
            "`sum` in place of `mean`.",
        ],
    ),
    Mistake(
        weights_along_the_width,
        "In `weights * values`, broadcasting lines the n weights up with the *width* of the values. That crashes, or, "
        "where the numbers happen to fit, weighs entries instead of values. Look at the two shapes.",
        [
            "Broadcasting lines shapes up from the right: (n,) and (n, d_v). Which axes meet?",
            "Each weight should meet a whole row of `values`. With which shape of the weights does it?",
            "`weights[:, None] * values`, added up over the keys; or a matrix product, which does both.",
        ],
        also=[
            weights_along_the_width_behind,
            weights_along_the_width_added,
            weights_along_the_width_behind_added,
        ],
    ),
    Mistake(
        values_on_the_left,
        "The product pairs the n weights with the *width* of the values. That crashes, or, where the numbers happen to "
        "fit, mixes the entries of each value instead of the values. Look at the order of the product.",
        [
            "(n, d_v) @ (n,): which two numbers would have to be equal?",
            "The axis of the keys has to meet the axis of the keys.",
            "`weights @ values`: (n,) @ (n, d_v) gives (d_v,).",
        ],
        also=[values_transposed],
    ),
    Mistake(
        one_row_too_many,
        "The numbers are right, but they lie in a table with an axis of length 1. One query gives one plain vector of "
        "width d_v. Look at the shape.",
        [
            "Print the shape of the result. Which axis has length 1?",
            "A `[None]`, a `[:, None]` or an `unsqueeze` has never been undone.",
            "A product of (n,) and (n, d_v) needs no extra axis: `weights @ values`.",
        ],
        also=[one_column_too_many],
    ),
    Mistake(
        matches_by_cosine,
        "The match is measured by the cosine here: the lengths of query and keys have been divided away. The lookup "
        "uses the plain dot product.",
        [
            "If the query is made 10 times longer, should the weights change? With the cosine they do not.",
            "Which step divides by a length?",
            "Score with `parts.similarity`.",
        ],
    ),
]
