"""The answer to ``latent_attention``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def latent_attention(
    q: Float[Tensor, "batch n_heads n_query d"],
    latent: Float[Tensor, "batch n_key r"],
    w_k: Float[Tensor, "n_heads r d"],
    w_v: Float[Tensor, "n_heads r d"],
) -> Float[Tensor, "batch n_heads n_query d"]:
    """Let each head attend to keys and values that it makes, by matrices of its own, of the tokens' latent vectors."""
    keys, values = latent[:, None] @ w_k, latent[:, None] @ w_v
    scores = q @ keys.mT / q.shape[-1] ** 0.5
    return torch.softmax(scores, dim=-1) @ values


def keys(latent, w_k):
    """let each head make keys of the latent vectors

    the keys, (batch, n_heads, n_key, d)
    """
    return latent[:, None] @ w_k


def values(latent, w_v):
    """let each head make values of the latent vectors

    the values, (batch, n_heads, n_key, d)
    """
    return latent[:, None] @ w_v


def products(q, keys):
    """multiply each query with each key of its head

    the products of queries and keys, (batch, n_heads, n_query, n_key)
    """
    return q @ keys.mT


def scores(products, q):
    """divide by the root of the width of a query

    the scores: products / √d
    """
    return products / q.shape[-1] ** 0.5


def weights(scores):
    """take the softmax over the keys

    the weights: each row adds up to 1
    """
    return torch.softmax(scores, dim=-1)


def output(weights, values):
    """take the weighted average of the values

    the output, (batch, n_heads, n_query, d)
    """
    return weights @ values


STEPS = InSteps(keys, values, products, scores, weights, output, reference=latent_attention)
