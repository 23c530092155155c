"""The answer to ``additive_scores`` in steps; the library's own function is the plain one."""

import torch

from transformer_course.steps import InSteps
from transformer_lab.attention.additive import additive_scores


def from_queries(queries, w_q):
    """project the queries by `w_q`

    W_q q for every query
    """
    return queries @ w_q.mT


def from_keys(keys, w_k):
    """project the keys by `w_k`

    W_k k for every key
    """
    return keys @ w_k.mT


def sums(from_queries, from_keys):
    """add every projected key to every projected query

    W_q q + W_k k for every pair
    """
    return from_queries[:, :, None, :] + from_keys[:, None, :, :]


def hidden(sums):
    """take the tanh

    the hidden vectors: tanh of the sums
    """
    return torch.tanh(sums)


def scores(hidden, w):
    """take the dot product of each hidden vector with `w`

    the scores
    """
    return hidden @ w


STEPS = InSteps(from_queries, from_keys, sums, hidden, scores, reference=additive_scores)
