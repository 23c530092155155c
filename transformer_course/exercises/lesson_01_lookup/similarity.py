"""Score keys by their dot product with a query."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def similarity(query: Float[Tensor, " d"], keys: Float[Tensor, "n d"]) -> Float[Tensor, " n"]:
    """Score every key by its dot product with the query."""
    return (keys * query).sum(dim=-1)


def row(query):
    """turn the query into a row → the query as a row, (1, d)"""
    return query[None, :]


def products(row, keys):
    """multiply every key by the query, entry by entry → the products, (n, d)"""
    return keys * row


def axis():
    """choose the dimension to sum over → the dimension to sum over: −1, the entries"""
    return -1


def sums(products, axis):
    """sum each key's products → the dot products"""
    return products.sum(dim=axis)


def scores(sums):
    """return one number for each key → the scores, (n,)"""
    return sums


STEPS = InSteps(row, products, axis, sums, scores, reference=similarity)


def similarity_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n: int, d: int, shows: str) -> Case:
        return Case({"query": normal(rng, d), "keys": normal(rng, n, d)}, shows)

    # Easy to do by hand: the scores are 5 and -2.
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
        summary="you divide by the lengths of query and keys, as in a cosine",
        message=(
            "You compute the cosine similarity, which divides by the lengths of the vectors: for the query [2, 0] and "
            "the key [3, 0], you return 1 instead of 6. What is left of the formula if you don't divide by the lengths?"
        ),
        hints=["If a key is twice as long, should its score double? What happens to your score?"],
    ),
    Mistake(
        "distance",
        STEPS.but(sums=lambda query, keys: (keys - query).norm(dim=-1)),
        summary="you measure how far each key is from the query",
        message=(
            "You compute a distance, which grows as a key moves *away* from the query. A similarity should shrink "
            "instead. Which product of the query and a key does the formula use?"
        ),
        hints=["What do you return if the key equals the query? Should the best match get the smallest score?"],
    ),
    Mistake(
        "squared_distance",
        STEPS.but(products=lambda keys, row: (keys - row) ** 2),
        summary="you compute the squared distance of each key from the query",
        message=(
            "{summary}, which grows as a key moves *away* from the query. A similarity should shrink instead. Which "
            "product of the query and a key does the formula use?"
        ),
        hints=["What do you return if the key equals the query? Should the best match get the smallest score?"],
    ),
    Mistake(
        "scaled",
        STEPS.but(sums=lambda sums, query: sums / len(query) ** 0.5),
        summary="you divide the scores by √d",
        message=(
            "{summary}: for the query [1, 2] and the key [3, 4], you return 7.78 instead of 11. Lesson 02 introduces "
            "this scaling; here, return the plain dot product."
        ),
        hints=["Does q · k divide the sum of the products by anything?"],
    ),
    Mistake(
        "query_in_front",
        STEPS.but(sums=lambda query, keys: query @ keys),
        summary="you multiply the query by the columns of `keys` instead of its rows",
        message=(
            "You multiply the query by each *column* of `keys`, as `query @ keys` does. Your code crashes, or mixes "
            "the keys if n = d. Does a key fill a row or a column of `keys`?"
        ),
        hints=["In `a @ b`, which dimension of `b` must have the same length as the last dimension of `a`?"],
    ),
    Mistake(
        "one_product_only",
        STEPS.but(sums=lambda products: products[:, -1]),
        summary="you keep only the last product for each key",
        message=(
            "{summary}: for the query [1, 2] and the key [3, 4], you return 8 instead of 11. If you use a loop, does "
            "each iteration add to the result or overwrite it?"
        ),
        hints=["For the query [1, 2] and the key [3, 4], which products does the dot product add up?"],
    ),
    Mistake(
        "first_product_only",
        STEPS.but(sums=lambda products: products[:, 0]),
        summary="you keep only the first product for each key",
        message=(
            "{summary}: for the query [1, 2] and the key [3, 4], you return 3 instead of 11. If you use a loop, does "
            "it end after the first iteration?"
        ),
        hints=["For the query [1, 2] and the key [3, 4], which products does the dot product add up?"],
    ),
    Mistake(
        "last_entry_left_out",
        STEPS.but(sums=lambda products: products[:, :-1].sum(dim=-1)),
        summary="you leave out the last entry of the query and of each key",
        message=(
            "{summary}: for the query [1, 2] and the key [3, 4], you return 3 instead of 11. If you use a loop, what "
            "is its last index?"
        ),
        hints=["For vectors of width 3, which indices should a loop visit? Which does yours visit?"],
    ),
    Mistake(
        "one_key_left_out",
        STEPS.but(sums=lambda sums: torch.cat([sums[:-1], torch.zeros_like(sums[-1:])])),
        summary="you leave out the last key, so its score is 0",
        message=(
            "{summary}. The scores of all other keys are right. If you use a loop over the keys, what is its last "
            "index?"
        ),
        hints=["For 3 keys, which indices should a loop visit? Which does yours visit?"],
    ),
    Mistake(
        "first_key_left_out",
        STEPS.but(sums=lambda sums: torch.cat([torch.zeros_like(sums[:1]), sums[1:]])),
        summary="you leave out the first key, so its score is 0",
        message=(
            "{summary}. The scores of all other keys are right. If you use a loop over the keys, what is its first "
            "index?"
        ),
        hints=["For 3 keys, which indices should a loop visit? Which does yours visit?"],
    ),
    Mistake(
        "negative_distance",
        STEPS.but(sums=lambda query, keys: -(keys - query).norm(dim=-1)),
        STEPS.but(sums=lambda query, keys: -(keys - query).square().sum(dim=-1) / 2),
        summary="you return a negative distance instead of the dot product",
        message=(
            "{summary}. A negative distance is also a similarity, and it ranks keys of length 1 in the same order. "
            "Here, return the dot product: for the query [1, 2] and the key [3, 4], it is 11."
        ),
        hints=["What do you return if the key equals the query? What is their dot product?"],
    ),
]


EXERCISE = Exercise(
    reference=similarity,
    steps=STEPS,
    may_cut_gradients=True,
    cases=similarity_cases,
    points=1,
    verified="Your scores are right for any number of keys and any width.",
    hints=[
        "Work through one case by hand: the query [1, 2] and a single key [3, 4]. Which products do you add up?",
        "Every key is one row of `keys`, and you need one number for each row.",
        "Multiply `keys` by `query`, which broadcasting repeats for every row, then sum over the last dimension. Or "
        "find the one matrix product that does both.",
        "`(keys * query).sum(dim=-1)`, or `keys @ query`.",
    ],
    messages={
        "function_scores: §.softmax(dim=-1)": Wording(
            "{summary}, which turns the scores into weights: a single key always gets 1, whatever its dot product. "
            "That step comes later; here, return the dot products themselves.",
            summary="you apply a softmax to the dot products",
            hints=["The dot product of [2, −1] and [3, 1] is 5. What do you return for it?"],
        ),
        "normalized_keys: keys / keys.norm(dim=-1, keepdim=True)": Wording(
            "{summary}, so a key that is twice as long gets the same score. Its dot product should be twice as large. "
            "Which division should you leave out?",
            summary="you divide each key by its length",
            hints=["For the query [2, 0] and the key [3, 0], the dot product is 2·3 + 0·0 = 6. What is your score?"],
        ),
        "normalized_query: query / query.norm(dim=-1, keepdim=True)": Wording(
            "{summary}, so a query that is twice as long gets the same scores. Its dot products should be twice as "
            "large. Which division should you leave out?",
            summary="you divide the query by its length",
            hints=["For the query [2, 0] and the key [3, 0], the dot product is 2·3 + 0·0 = 6. What is your score?"],
        ),
        "axis_sums: products.sum(dim=0)": Wording(
            "You sum over the keys instead of over the entries, so each number that you return mixes different keys: "
            "for 2 keys of width 3, you return 3 numbers instead of 2. Which dimension holds the entries of a key?",
            summary="you sum over the keys instead of over the entries",
            hints=["For 2 keys of width 3, what shape do the products have? Which of the two sizes should remain?"],
        ),
        "sibling_sums: products.mean(dim=axis)": Wording(
            "You take the mean of the products instead of the sum, so every score is d times too small: for [1, 2] and "
            "[3, 4], you return 5.5 instead of 11. Which method adds up the products without dividing?",
            summary="you take the mean of the products instead of the sum",
            hints=["Does q · k divide the sum of the products by anything?"],
        ),
        "operator_products: (keys) + (row)": Wording(
            "{summary}: for the query [1, 2] and the key [3, 4], you return 10 instead of 11. Which operation combines "
            "two entries in a dot product?",
            summary="you add the entries of the query and the key instead of multiplying them",
            hints=["Which two products does the dot product of [1, 2] and [3, 4] add up?"],
        ),
        "slice_row": Wording(
            "You turn the query into a column, so broadcasting lines up its entries with the *keys*. Your code "
            "crashes, or multiplies the wrong numbers if n = d. What shape should the query have?",
            summary="you turn the query into a column instead of a row",
            hints=["How does a query of shape (3, 1) broadcast against keys of shape (2, 3)?"],
        ),
    },
    mistakes=MISTAKES,
)
