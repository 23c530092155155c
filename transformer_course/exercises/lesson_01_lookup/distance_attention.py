"""Transfer: look up by nearness."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared import attention_mistakes
from transformer_course.exercises.shared.attention_steps import mixture, weights
from transformer_course.exercises.shared.draw_cases import attention_cases
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def distance_attention(
    queries: Float[Tensor, "*batch n_query d"],
    keys: Float[Tensor, "*batch n_key d"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Look every query up by nearness: the score is minus half the squared Euclidean distance."""
    squared = (queries.unsqueeze(-2) - keys.unsqueeze(-3)).square().sum(dim=-1)
    return torch.softmax(-squared / 2, dim=-1) @ values


def differences(queries, keys):
    """subtract every key from every query → the differences of queries and keys"""
    return queries.unsqueeze(-2) - keys.unsqueeze(-3)


def squares(differences):
    """square the differences → the squares of the differences"""
    return differences.square()


def distances(squares):
    """add the squares of each pair up → the squared distances"""
    return squares.sum(dim=-1)


def halves(distances):
    """take half of each squared distance → half the squared distances"""
    return distances / 2


def scores(halves):
    """turn the sign → the scores: minus half the squared distances"""
    return -halves


STEPS = InSteps(differences, squares, distances, halves, scores, weights, mixture, reference=distance_attention)


def distance_attention_cases(seed: int) -> list[Case]:
    cases = attention_cases(seed, width=2, loud=16.0)
    inputs = dict(attention_cases(seed + 1, width=2)[2].inputs)
    inputs["queries"] = torch.cat([inputs["queries"][:1], inputs["keys"][1:2]])
    return [*cases[:3], Case(inputs, "a query that lies on a key"), *cases[3:]]


MISTAKES = [
    Mistake(
        "still_dot_products",
        STEPS.but(scores=lambda queries, keys: queries @ keys.mT),
        summary="the scores are dot products, without the lengths of the keys",
        message=(
            "The scores still rank the keys by dot products: a key far away in the direction of the query beats one "
            "that lies on top of it. Look at whether the lengths of the keys come in."
        ),
        hints=[
            "Which formula is asked for? Does a difference of query and key occur in the code, or the length of a key?"
        ],
    ),
    Mistake(
        "query_i_with_key_i",
        STEPS.but(differences=lambda queries, keys: queries - keys),
        summary="query i is compared with key i only",
        message=(
            "{summary}: one number each, or a crash as soon as their numbers differ. Every query has to meet every "
            "key. Look at the shapes that are subtracted."
        ),
        hints=["How many distances are there between 2 queries and 3 keys?"],
    ),
    attention_mistakes.overflows(STEPS),
    *attention_mistakes.of_the_mixture(STEPS),
]


EXERCISE = Exercise(
    reference=distance_attention,
    steps=STEPS,
    may_cut_gradients=True,
    cases=distance_attention_cases,
    points=2,
    stretch=True,
    verified="Near keys count more, and the distance is squared and halved. As a statistician would say: kernel "
    "regression with a Gaussian kernel.",
    hints=[
        "Only the scores change. What is needed is a table of squared distances: one row per query, one column per "
        "key.",
        "Give the queries the shape (…, n_query, 1, d) and the keys (…, 1, n_key, d): their difference holds every "
        "pair. Or use ‖q − k‖² = ‖q‖² − 2 q·k + ‖k‖².",
        "`queries[..., :, None, :]` and `keys[..., None, :, :]` have these shapes, whatever stands in front.",
        "scores = −½ Σ (q − k)², then a softmax over the keys and the product with the values.",
    ],
    messages={
        "axis_weights: scores.softmax(dim=-2)": attention_mistakes.SOFTMAX_OVER_THE_QUERIES,
        "call_left_out_squares": (
            "The differences are added up as they are, so that positive and negative ones cancel. Look at "
            "what happens before the sum."
        ),
    },
    mistakes=MISTAKES,
)
