"""Score keys by their dot product with a query."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.call import Case
from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.drawing import generator, normal


def similarity(query: Float[Tensor, " d"], keys: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """Score every key by its dot product with the query."""
    return (keys * query).sum(dim=-1)


def similarity_cases(seed: int) -> list[Case]:
    rng = generator(seed)
    return [
        Case({"query": normal(rng, 2), "keys": normal(rng, 1, 2)}, "one key of width 2"),
        Case({"query": normal(rng, 3), "keys": normal(rng, 4, 3)}, "4 keys of width 3"),
        Case({"query": normal(rng, 64), "keys": normal(rng, 301, 64)}, "301 keys of width 64"),
    ]


def cosine(query, keys):
    return (keys @ query) / (keys.norm(dim=-1) * query.norm())


def products_not_added(query, keys):
    return keys * query


def adds_over_the_keys(query, keys):
    return (keys * query).sum(dim=0)


def distance(query, keys):
    return (keys - query).norm(dim=-1)


def negative_distance(query, keys):
    return -(keys - query).norm(dim=-1)


def already_weights(query, keys):
    return torch.softmax(keys @ query, dim=-1)


SIMILARITY = Exercise(
    reference=similarity,
    cases=similarity_cases,
    points=1,
    verified="Right for one key and for 301, whatever their length. Next: turn such scores into weights.",
    hints=[
        "Work one case out by hand: query [1, 2] and a single key [3, 4]. Which products are added up?",
        "Every key is one row of `keys`. You need one number per row.",
        "Multiply `keys` by `query` (broadcasting lines the widths up), then add along the last axis; "
        "or find the one matrix product that does both.",
    ],
    mistakes=[
        Mistake(
            cosine,
            "This is the cosine: the lengths of the vectors have been divided away. The dot product keeps them, so a "
            "longer key gets a larger score.",
            [
                "What does your function give for the query [2, 0] and the key [3, 0]? What is 2·3 + 0·0?",
                "The dot product is the cosine times both lengths.",
                "Leave the norms out: multiply and add, nothing else.",
            ],
        ),
        Mistake(
            products_not_added,
            "You get a whole vector for every key: the products are there, but nothing adds them up. Look at the shape "
            "of what you return.",
            [
                "How many numbers should come out for 4 keys? How many do you return?",
                "A dot product has two steps: multiply entry by entry, then …",
                "Add up along the axis that holds the width: the last one.",
            ],
        ),
        Mistake(
            adds_over_the_keys,
            "The sum runs over the keys instead of over the width, so different keys are mixed into one number. Look "
            "at the axis you add along.",
            [
                "Your result has as many numbers as the vectors have entries. It should have one per key.",
                "`keys` has the shape (n, d). Which of the two axes should be gone at the end?",
                "Add along the last axis, `dim=-1`.",
            ],
        ),
        Mistake(
            distance,
            "This is a distance: it grows as the key moves *away* from the query. A similarity has to do the opposite.",
            [
                "What do you return when key and query are equal? Should the best match get the smallest score?",
                "The exercise asks for the dot product: products, added up.",
                "No subtraction is needed: multiply entry by entry and add along the last axis.",
            ],
        ),
        Mistake(
            negative_distance,
            "This is minus the Euclidean distance. It is a sensible similarity, and for vectors of length 1 it puts "
            "the keys in the same order, but the exercise asks for the dot product.",
            [
                "Compare with hand arithmetic: query [1, 2], key [3, 4] should give 1·3 + 2·4.",
                "No subtraction and no root occur in a dot product.",
                "Multiply entry by entry and add along the last axis.",
            ],
        ),
        Mistake(
            already_weights,
            "These are weights between 0 and 1 that add up to 1: a softmax too much. The raw scores are asked for.",
            [
                "Can a dot product be negative? Can what you return?",
                "Turning scores into weights is the next exercise.",
                "Return the scores before the softmax.",
            ],
        ),
    ],
)
