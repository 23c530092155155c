"""Transfer: look up by nearness."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_lab.course.exercise import Exercise, Mistake
from transformer_lab.course.exercises.drawing import attention_cases


def distance_attention(
    queries: Float[Tensor, "*batch n_query d"],
    keys: Float[Tensor, "*batch n_key d"],
    values: Float[Tensor, "*batch n_key d_v"],
) -> Float[Tensor, "*batch n_query d_v"]:
    """Look every query up by nearness: the score is minus half the squared Euclidean distance."""
    squared = (queries.unsqueeze(-2) - keys.unsqueeze(-3)).square().sum(dim=-1)
    return torch.softmax(-squared / 2, dim=-1) @ values


def _by_distance(score):
    def mixed(queries, keys, values, dim=-1):
        squared = (queries.unsqueeze(-2) - keys.unsqueeze(-3)).square().sum(dim=-1)
        return torch.softmax(score(squared), dim=dim) @ values

    return mixed


def far_away_wins(queries, keys, values):
    return _by_distance(lambda squared: squared / 2)(queries, keys, values)


def forgets_the_half(queries, keys, values):
    return _by_distance(lambda squared: -squared)(queries, keys, values)


def forgets_the_square(queries, keys, values):
    return _by_distance(lambda squared: -squared.sqrt() / 2)(queries, keys, values)


def distance_over_queries(queries, keys, values):
    return _by_distance(lambda squared: -squared / 2)(queries, keys, values, dim=-2)


DISTANCE_ATTENTION = Exercise(
    reference=distance_attention,
    cases=lambda seed: attention_cases(seed, width=2),
    points=2,
    stretch=True,
    verified="Near keys count more, and the distance is squared and halved. As a statistician would say: kernel "
    "regression with a Gaussian kernel.",
    hints=[
        "Only the scores change. You need a table of squared distances: one row per query, one column per key.",
        "Give the queries the shape (…, n_query, 1, d) and the keys (…, 1, n_key, d): their difference holds every "
        "pair. Or use ‖q − k‖² = ‖q‖² − 2 q·k + ‖k‖².",
        "scores = −½ Σ (q − k)², then a softmax over the keys and the product with the values.",
    ],
    mistakes=[
        Mistake(
            far_away_wins,
            "The keys that are farthest away get the largest weights. Look at the sign of the scores.",
            [
                "What is the score of a key that equals the query? Is it the largest or the smallest?",
                "A softmax prefers large scores.",
                "Put a minus in front of the distances.",
            ],
        ),
        Mistake(
            forgets_the_half,
            "The scores are twice as large as asked for, so the weights are too sharp. Look for the factor ½.",
            [
                "Compare your score for two points at distance 2 with −½·2².",
                "Expand −½‖q − k‖²: the middle term should be exactly q·k.",
                "Divide the squared distance by 2.",
            ],
        ),
        Mistake(
            forgets_the_square,
            "The scores grow with the distance itself, not with its square. Look at where the root is taken.",
            [
                "`norm` and `cdist` take a root at the end.",
                "What is asked for is ‖q − k‖², without a root.",
                "Square the distance, or never take the root.",
            ],
        ),
        Mistake(
            distance_over_queries,
            "The weights add up to 1 over the queries instead of over the keys. Look at the axis of your softmax.",
            [
                "Sum your weights along each axis.",
                "The keys compete for each query.",
                "`dim=-1`.",
            ],
        ),
    ],
)
