"""The answer to ``repeat_kv`` in steps; the plain one is the library's."""

from transformer_course.steps import InSteps
from transformer_lab.attention.grouped_query import repeat_kv


def copies(x, n_repeats):
    """give every head n_repeats copies, on an axis of their own behind that of the heads

    the copies of each head: (batch, n_kv_heads, n_repeats, n, d)
    """
    return x[:, :, None].expand(-1, -1, n_repeats, -1, -1)


def n_heads(x, n_repeats):
    """multiply the number of heads by n_repeats

    the number of query heads: n_kv_heads times n_repeats
    """
    return x.shape[1] * n_repeats


def repeated(x, copies, n_heads):
    """make one axis of heads and copies

    the heads, each repeated next to itself: (batch, n_heads, n, d)
    """
    return copies.reshape(len(x), n_heads, *x.shape[2:])


STEPS = InSteps(copies, n_heads, repeated, reference=repeat_kv)
