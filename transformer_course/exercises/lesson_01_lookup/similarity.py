"""Score keys by their dot product with a query."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def similarity(query: Float[Tensor, " d"], keys: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """Score every key by its dot product with the query."""
    return (keys * query).sum(dim=-1)


def row(query):
    """line the entries of the query up with those of the keys → the query as a row that meets every key"""
    return query[None, :]


def products(row, keys):
    """multiply every key by the query, entry by entry → the products, (n, d)"""
    return keys * row


def axis():
    """choose the axis of the width → the axis of the sum"""
    return -1


def sums(products, axis):
    """add up the products of each key → the dot products"""
    return products.sum(dim=axis)


def scores(sums):
    """return one number for each key → the scores, (n,)"""
    return sums


STEPS = InSteps(row, products, axis, sums, scores, reference=similarity)


def similarity_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n: int, d: int, shows: str) -> Case:
        return Case({"query": normal(rng, d), "keys": normal(rng, n, d)}, shows)

    # Can be done in the head: the scores are 5 and -2.
    readable = {"query": torch.tensor([2.0, -1.0]), "keys": torch.tensor([[3.0, 1.0], [1.0, 4.0]])}
    return [
        Case(readable, "2 keys of width 2, in whole numbers"),
        case(2, 3, "2 keys of width 3"),
        case(3, 3, "3 keys of width 3"),
        case(1, 5, "one key of width 5"),
        case(5, 1, "5 keys of width 1"),
        case(301, 64, "301 keys of width 64"),
    ]


MISTAKES = [
    Mistake(
        "cosine",
        STEPS.but(sums=lambda sums, query, keys: sums / (keys.norm(dim=-1) * query.norm())),
        STEPS.but(query=lambda query: query / query.norm(), keys=lambda keys: keys / keys.norm(dim=-1, keepdim=True)),
        summary="the lengths of query and keys are divided away, as in a cosine",
        message=(
            "This is the cosine: the lengths of the vectors have been divided away. The dot product keeps them: a "
            "key that is twice as long gets twice the score."
        ),
        hints=["What comes out for the query [2, 0] and the key [3, 0]? What is 2·3 + 0·0?"],
    ),
    Mistake(
        "distance",
        STEPS.but(sums=lambda query, keys: (keys - query).norm(dim=-1)),
        STEPS.but(products=lambda keys, row: (keys - row) ** 2),
        summary="the keys are compared by their distance from the query",
        message=(
            "This is a distance: it grows as the key moves *away* from the query. A similarity has to do the opposite."
        ),
        hints=["What comes out when key and query are equal? Should the best match get the smallest score?"],
    ),
    Mistake(
        "scaled",
        STEPS.but(sums=lambda sums, query: sums / len(query) ** 0.5),
        summary="the scores are divided by the root of the width",
        message="{summary}: that is the subject of lesson 02. Here the plain dot product is asked for.",
        hints=["What comes out for the query [1, 2] and the key [3, 4]? What is 1·3 + 2·4?"],
    ),
    Mistake(
        "query_in_front",
        STEPS.but(sums=lambda query, keys: query @ keys),
        summary="the query is multiplied with the columns of the keys, not with their rows",
        message=(
            "`query @ keys` multiplies the query with each *column* of `keys`. That crashes, or, where there are as "
            "many keys as entries, mixes the keys. Each key is a row."
        ),
        hints=["In `a @ b`, which axis of `b` meets the last axis of `a`?"],
    ),
    Mistake(
        "one_product_only",
        STEPS.but(sums=lambda products: products[:, -1]),
        STEPS.but(sums=lambda products: products[:, 0]),
        summary="a single product of each key is left",
        message="{summary}, the last or the first: in a loop, each turn may throw away what the one before it found.",
        hints=["What comes out for the query [1, 2] and the key [3, 4]? What is 1·3 + 2·4?"],
    ),
    Mistake(
        "negative_distance",
        STEPS.but(sums=lambda query, keys: -(keys - query).norm(dim=-1)),
        STEPS.but(sums=lambda query, keys: -(keys - query).square().sum(dim=-1) / 2),
        summary="minus a distance stands in place of the dot product",
        message=(
            "This is minus a distance, or half of its square. It is a sensible similarity, and for vectors of length "
            "1 it puts the keys in the same order, but the exercise asks for the dot product."
        ),
        hints=["Compare with hand arithmetic: query [1, 2], key [3, 4] should give 1·3 + 2·4."],
    ),
]


EXERCISE = Exercise(
    reference=similarity,
    steps=STEPS,
    may_cut_gradients=True,
    cases=similarity_cases,
    points=1,
    verified="Right for one key and for 301, narrow or wide.",
    hints=[
        "Work one case out by hand: query [1, 2] and a single key [3, 4]. Which products are added up?",
        "Every key is one row of `keys`. One number per row should come out.",
        "Multiply `keys` by `query` (broadcasting lines the widths up), then add along the last axis; or find the one "
        "matrix product that does both.",
    ],
    messages={
        "axis_sums: products.sum(dim=0)": (
            "The sum runs over the keys instead of over the width, so different keys are mixed into one "
            "number. Look at the axis along which the sum is taken."
        ),
        "sibling_sums: products.mean(dim=axis)": (
            "All the scores are too small by one factor, the width: the products are averaged. A dot product "
            "adds them up."
        ),
        "slice_row": (
            "The query stands as a column, so that its entries are lined up with the *keys*. That crashes, "
            "or, where there are as many keys as entries, multiplies the wrong numbers. Look at its shape."
        ),
    },
    mistakes=MISTAKES,
)
