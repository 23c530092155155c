"""The answer to ``padding_mask`` in steps; the plain one is the library's."""

from transformer_course.steps import InSteps
from transformer_lab.attention.masks import padding_mask


def real(tokens, pad_id):
    """compare each token with `pad_id`: True at the real ones

    the real tokens: True where a token is not `pad_id`
    """
    return tokens != pad_id


def per_head(real):
    """add an axis of length 1 for the heads

    the real tokens with an axis for the heads: (batch, 1, n)
    """
    return real[:, None, :]


def per_query(per_head):
    """add an axis of length 1 for the queries, before that of the keys

    the real tokens with axes for heads and queries: (batch, 1, 1, n)
    """
    return per_head[:, :, None, :]


def mask(per_query):
    """leave it as it is: True and False

    the mask: that matrix, as it is
    """
    return per_query


STEPS = InSteps(real, per_head, per_query, mask, reference=padding_mask)
