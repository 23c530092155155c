"""The answer to ``padding_mask`` in steps; the plain one is the library's."""

from transformer_lab.attention.masks import padding_mask
from transformer_lab.course.steps import InSteps


def real(tokens, pad_id):
    """compare each token with `pad_id`: True at the real ones"""
    return tokens != pad_id


def per_head(real):
    """add an axis of length 1 for the heads"""
    return real[:, None, :]


def per_query(per_head):
    """add an axis of length 1 for the queries, before that of the keys"""
    return per_head[:, :, None, :]


def mask(per_query):
    """leave it as it is: True and False"""
    return per_query


STEPS = InSteps(real, per_head, per_query, mask, reference=padding_mask)
