"""What goes wrong when one query is looked up: with what is compared, and how scores become weights."""

import torch

from transformer_lab.course.exercise import Mistake


def hard_lookup(query, keys, values):
    return values[(keys @ query).argmax()]


def scores_as_weights(query, keys, values):
    return (keys @ query) @ values


def divides_by_the_sum(query, keys, values):
    scores = keys @ query
    return (scores / scores.sum()) @ values


def scores_the_values(query, keys, values):
    return torch.softmax(values @ query, dim=0) @ values


def scores_the_values_by_sums(query, keys, values):
    return torch.softmax((values * query).sum(dim=-1), dim=0) @ values


def query_times_columns(query, keys, values):
    return torch.softmax(query @ keys, dim=0) @ values


def scaled_too_early(query, keys, values):
    return torch.softmax(keys @ query / query.shape[-1] ** 0.5, dim=0) @ values


def matches_by_cosine(query, keys, values):
    return torch.softmax(torch.cosine_similarity(query, keys, dim=-1), dim=0) @ values


MISTAKES = [
    Mistake(
        "hard_lookup",
        [hard_lookup],
        says=(
            "The one best value comes back: a hard lookup, as a dict does it. Here every value should take part, weighted "
            "by how well its key matches."
        ),
        hints=[
            "What comes out when two keys match equally well?",
            "Which function turns scores into weights that add up to 1?",
            "softmax of the scores, then the sum of weight times value.",
        ],
    ),
    Mistake(
        "scores_as_weights",
        [scores_as_weights],
        says=(
            "The values are mixed by the raw scores. These may be negative and do not add up to 1, so the result is not an "
            "average of the values. A step is missing between scoring and mixing."
        ),
        hints=[
            "With a single key, the result should be its value exactly. Is it?",
            "What has to be true of weights in an average?",
            "Put a softmax between the scores and the sum.",
        ],
    ),
    Mistake(
        "divides_by_the_sum",
        [divides_by_the_sum],
        says=(
            "The weights add up to 1, but those of keys with a negative score are negative: dividing by the sum is not a "
            "softmax. Look at how scores become weights."
        ),
        hints=[
            "What happens for the scores 1 and -1?",
            "Weights of an average are never negative.",
            "Use `parts.softmax` on the scores.",
        ],
    ),
    Mistake(
        "scores_the_values",
        [scores_the_values, scores_the_values_by_sums],
        says=(
            "The query is compared with the values: that crashes where their widths differ, and elsewhere finds values "
            "that look like the question. Look at what the scores are made of."
        ),
        hints=[
            "In a dict, is the word looked for among the keys, or among what is stored under them?",
            "The keys are there to be compared. Do they occur in the code at all?",
            "Score the keys: `parts.similarity(query, keys)`.",
        ],
    ),
    Mistake(
        "query_times_columns",
        [query_times_columns],
        says=(
            "`query @ keys` multiplies the query with the *columns* of `keys`. Each key is a row: this crashes, or, where "
            "there are as many keys as entries, gives nonsense. Look at the order of that product."
        ),
        hints=[
            "(d,) @ (n, d): which two numbers would have to be equal?",
            "With the keys on the left, (n, d) @ (d,), the widths meet.",
            "`keys @ query`, or `parts.similarity(query, keys)`.",
        ],
    ),
    Mistake(
        "scaled_too_early",
        [scaled_too_early],
        says=(
            "The scores are divided by √d: usual in Transformers, and the subject of lesson 02. Here the plain dot "
            "products are asked for."
        ),
        hints=[
            "Compare with `similarity`. Is anything divided there?",
            "torch's own attention divides by √d unless it is told otherwise.",
            "`parts.similarity(query, keys)` are the scores.",
        ],
    ),
    Mistake(
        "matches_by_cosine",
        [matches_by_cosine],
        says=(
            "The match is measured by the cosine here: the lengths of query and keys have been divided away. The lookup "
            "uses the plain dot product."
        ),
        hints=[
            "If the query is made 10 times longer, should the weights change? With the cosine they do not.",
            "Which step divides by a length?",
            "Score with `parts.similarity`.",
        ],
    ),
]
