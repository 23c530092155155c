"""The answer to ``cosine_attention``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercises.shared.attention_steps import mixture, weights
from transformer_course.steps import InSteps


def cosine_attention(
    queries: Float[Tensor, "*batch n_query d_k"],
    keys: Float[Tensor, "*batch n_key d_k"],
    values: Float[Tensor, "*batch n_key d_v"],
    temperature: float,
) -> Float[Tensor, "*batch n_query d_v"]:
    """Let every query average the values; a score is its cosine with a key, divided by a temperature."""
    queries = queries / queries.norm(dim=-1, keepdim=True)
    keys = keys / keys.norm(dim=-1, keepdim=True)
    scores = queries @ keys.transpose(-2, -1) / temperature
    return torch.softmax(scores, dim=-1) @ values


def query_lengths(queries):
    """find the length of every query

    the lengths of the queries
    """
    return queries.norm(dim=-1, keepdim=True)


def key_lengths(keys):
    """find the length of every key

    the lengths of the keys
    """
    return keys.norm(dim=-1, keepdim=True)


def unit_queries(queries, query_lengths):
    """divide the queries by their lengths

    queries of length 1
    """
    return queries / query_lengths


def unit_keys(keys, key_lengths):
    """divide the keys by their lengths

    keys of length 1
    """
    return keys / key_lengths


def turned(unit_keys):
    """swap the last two axes of the keys

    the keys as columns
    """
    return unit_keys.mT


def products(unit_queries, turned):
    """multiply every query by every key

    the cosines
    """
    return unit_queries @ turned


def scores(products, temperature):
    """divide the cosines by the temperature

    the scores: cosines divided by the temperature
    """
    return products / temperature


STEPS = InSteps(
    query_lengths,
    key_lengths,
    unit_queries,
    unit_keys,
    turned,
    products,
    scores,
    weights,
    mixture,
    reference=cosine_attention,
)
