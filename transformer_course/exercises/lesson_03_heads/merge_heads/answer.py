"""The answer to ``merge_heads`` in steps; the plain one is the library's."""

from transformer_course.steps import InSteps
from transformer_lab.attention.multi_head import merge_heads


def swapped(x):
    """swap the axes of heads and positions

    the heads with the positions in front: (batch, n, n_heads, d_k)
    """
    return x.transpose(1, 2)


def n(x):
    """read off the number of positions

    the number of positions: the length of axis 2
    """
    return x.shape[2]


def d_model(x):
    """multiply the number of heads by the width of one

    the width of all heads together: n_heads times d_k
    """
    return x.shape[1] * x.shape[3]


def merged(x, swapped, n, d_model):
    """make one axis of the heads and their features

    the heads side by side: (batch, n, n_heads · d_k)
    """
    return swapped.reshape(len(x), n, d_model)


STEPS = InSteps(swapped, n, d_model, merged, reference=merge_heads)
