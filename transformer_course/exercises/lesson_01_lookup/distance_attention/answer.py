"""The answer to ``distance_attention``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercises.shared.attention_steps import mixture, weights
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
    """subtract every key from every query

    the differences of queries and keys
    """
    return queries.unsqueeze(-2) - keys.unsqueeze(-3)


def squares(differences):
    """square the differences

    the squares of the differences
    """
    return differences.square()


def distances(squares):
    """add the squares of each pair up

    the squared distances
    """
    return squares.sum(dim=-1)


def halves(distances):
    """take half of each squared distance

    half the squared distances
    """
    return distances / 2


def scores(halves):
    """turn the sign

    the scores: minus half the squared distances
    """
    return -halves


STEPS = InSteps(differences, squares, distances, halves, scores, weights, mixture, reference=distance_attention)
