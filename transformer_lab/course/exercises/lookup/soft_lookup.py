"""Look one query up."""

import torch
from torch import Tensor

from transformer_lab.course.call import Case
from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.drawing import generator, normal
from transformer_lab.course.exercises.lookup.similarity import cosine
from transformer_lab.dot_product import soft_lookup


def soft_lookup_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def inputs(n: int, d: int, d_v: int) -> dict[str, Tensor]:
        return {"query": normal(rng, d), "keys": normal(rng, n, d), "values": normal(rng, n, d_v)}

    return [
        Case(inputs(1, 2, 3), "one key: its value comes back unchanged"),
        Case(inputs(3, 2, 1), "3 keys of width 2, values of width 1"),
        Case(inputs(4, 3, 5), "4 keys of width 3, values of width 5"),
        Case(inputs(307, 16, 31), "307 keys of width 16, values of width 31"),
    ]


def hard_lookup(query, keys, values):
    return values[(keys @ query).argmax()]


def scores_as_weights(query, keys, values):
    return (keys @ query) @ values


def divides_by_the_sum(query, keys, values):
    scores = keys @ query
    return (scores / scores.sum()) @ values


def mixes_the_keys(query, keys, values):
    return torch.softmax(keys @ query, dim=-1) @ keys


def values_not_added(query, keys, values):
    return torch.softmax(keys @ query, dim=-1)[:, None] * values


def matches_by_cosine(query, keys, values):
    return torch.softmax(cosine(query, keys), dim=-1) @ values


SOFT_LOOKUP = Exercise(
    reference=soft_lookup,
    cases=soft_lookup_cases,
    points=2,
    verified="Every value takes part, as much as its key matches. Next: many queries at once.",
    hints=[
        "Three steps: score the keys, turn the scores into weights, mix the values.",
        "You have the first two: `parts.similarity` and `parts.softmax`.",
        "Mixing is a weighted sum: multiply each row of `values` by its weight and add the rows up. A vector of n "
        "weights times an (n, d_v) matrix does just that.",
    ],
    mistakes=[
        Mistake(
            hard_lookup,
            "You return the one best value: a hard lookup, as a dict does it. Here every value should take part, "
            "weighted by how well its key matches.",
            [
                "What does your function give when two keys match equally well?",
                "Which function turns scores into weights that add up to 1?",
                "softmax of the scores, then the sum of weight times value.",
            ],
        ),
        Mistake(
            scores_as_weights,
            "The values are mixed by the raw scores. These may be negative and do not add up to 1, so the result is "
            "not an average of the values. A step is missing between scoring and mixing.",
            [
                "With a single key, the result should be its value exactly. Is yours?",
                "What has to be true of weights in an average?",
                "Put a softmax between the scores and the sum.",
            ],
        ),
        Mistake(
            divides_by_the_sum,
            "Your weights add up to 1, but those of keys with a negative score are negative: dividing by the sum is "
            "not a softmax. Look at how scores become weights.",
            [
                "What happens for the scores 1 and -1?",
                "Weights of an average are never negative.",
                "Use `parts.softmax` on the scores.",
            ],
        ),
        Mistake(
            mixes_the_keys,
            "You mix the keys. They have done their work once the weights are known; the values are handed over.",
            [
                "Which width should the result have, that of the keys or that of the values?",
                "In a dict, do you get the key back or what is stored under it?",
                "Multiply the weights by `values`.",
            ],
        ),
        Mistake(
            values_not_added,
            "Each value has been multiplied by its weight, but they are not added up: you return one row per key. Look "
            "at the shape.",
            [
                "How many vectors should come out of one lookup?",
                "A weighted average is a *sum* of weight times value.",
                "Add along the axis of the keys, `dim=0`, or use a matrix product.",
            ],
        ),
        Mistake(
            matches_by_cosine,
            "The match is measured by the cosine here: the lengths of query and keys have been divided away. The "
            "lookup uses the plain dot product.",
            [
                "If the query is made 10 times longer, should the weights change? With your version they do not.",
                "Which step of yours divides by a length?",
                "Score with `parts.similarity`.",
            ],
        ),
    ],
)
