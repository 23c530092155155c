"""The answer to ``noam_rate`` in steps; the plain one is the library's."""

from transformer_course.steps import InSteps
from transformer_lab.training.schedules import noam_rate


def width_factor(d_model):
    """take one over the root of `d_model`

    the factor of the width: d_model^(−½)
    """
    return d_model**-0.5


def falling(step):
    """take one over the root of the step

    the falling rate: step^(−½)
    """
    return step**-0.5


def slope(warmup):
    """raise the warm-up to the power of −3/2

    the slope of the straight line: warmup^(−3/2)
    """
    return warmup**-1.5


def rising(step, slope):
    """multiply it by the step

    the rising rate: step · warmup^(−3/2)
    """
    return step * slope


def lower(falling, rising):
    """take the lower of the two rates

    the lower of the two rates
    """
    return min(falling, rising)


def rate(width_factor, lower):
    """multiply it by the factor of the width

    the learning rate
    """
    return width_factor * lower


STEPS = InSteps(width_factor, falling, slope, rising, lower, rate, reference=noam_rate)
