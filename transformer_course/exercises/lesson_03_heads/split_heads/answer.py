"""The answer to ``split_heads`` in steps; the plain one is the library's."""

from transformer_course.steps import InSteps
from transformer_lab.attention.multi_head import split_heads


def d_k(x, n_heads):
    """divide the width by the number of heads: the features of one head

    the width of a head: d_model divided by n_heads
    """
    return x.shape[2] // n_heads


def sizes(n_heads, d_k):
    """put the number of heads in front, and the width of one behind it

    the two sizes into which the last axis is cut: n_heads and d_k
    """
    return n_heads, d_k


def cut(x, sizes):
    """cut the last axis into these two: the heads, and the features of each

    the features, cut into heads: (batch, n, n_heads, d_k)
    """
    return x.reshape(*x.shape[:2], *sizes)


def heads(cut):
    """swap the axes of positions and heads

    the heads: (batch, n_heads, n, d_k)
    """
    return cut.transpose(1, 2)


STEPS = InSteps(d_k, sizes, cut, heads, reference=split_heads)
