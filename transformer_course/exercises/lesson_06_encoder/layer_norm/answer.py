"""The answer to ``layer_norm`` in steps; the plain one is the library's."""

import torch

from transformer_course.steps import InSteps
from transformer_lab.layers.norms import layer_norm


def axis():
    """choose the last axis, that of the features

    the axis that is averaged over: the last one
    """
    return -1


def mean(x, axis):
    """take the mean of each vector

    the means
    """
    return x.mean(dim=axis, keepdim=True)


def deviations(x, mean):
    """subtract it

    the deviations from the mean
    """
    return x - mean


def squares(deviations):
    """square the deviations

    the squared deviations
    """
    return deviations.square()


def variance(squares, axis):
    """take the mean of the squares

    the variances: the means of the squared deviations
    """
    return squares.mean(dim=axis, keepdim=True)


def with_eps(variance, eps):
    """add eps

    the variances plus eps
    """
    return variance + eps


def root(with_eps):
    """take the root

    the standard deviations: the roots of variance plus eps
    """
    return torch.sqrt(with_eps)


def normalised(deviations, root):
    """divide the deviations by it

    the normalised vectors
    """
    return deviations / root


def stretched(normalised, weight):
    """multiply by the weight

    the stretched vectors
    """
    return normalised * weight


def shifted(stretched, bias):
    """add the bias

    the shifted vectors
    """
    return stretched + bias


STEPS = InSteps(
    axis, mean, deviations, squares, variance, with_eps, root, normalised, stretched, shifted, reference=layer_norm
)
