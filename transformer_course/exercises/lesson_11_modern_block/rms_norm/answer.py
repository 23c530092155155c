"""The answer to ``rms_norm`` in steps; the plain one is the library's."""

import torch

from transformer_course.steps import InSteps
from transformer_lab.layers.norms import rms_norm


def axis():
    """choose the last axis, that of the features

    the axis that is averaged over: the last one
    """
    return -1


def wide(x):
    """compute in float32, whatever the dtype of x

    x in float32
    """
    return x.float()


def squares(wide):
    """square the features

    the squared features
    """
    return wide.square()


def mean_square(squares, axis):
    """take the mean of the squares of each vector

    the mean squares
    """
    return squares.mean(dim=axis, keepdim=True)


def with_eps(mean_square, eps):
    """add eps

    the mean squares plus eps
    """
    return mean_square + eps


def root(with_eps):
    """take the root

    the root mean squares: the roots of the mean squares plus eps
    """
    return torch.sqrt(with_eps)


def normalised(wide, root):
    """divide x by it

    the normalised vectors
    """
    return wide / root


def narrow(normalised, x):
    """bring the result back to the dtype of x

    the normalised vectors in the dtype of x
    """
    return normalised.to(x.dtype)


def stretched(narrow, weight):
    """multiply by the weight

    the stretched vectors
    """
    return narrow * weight


STEPS = InSteps(axis, wide, squares, mean_square, with_eps, root, normalised, narrow, stretched, reference=rms_norm)
