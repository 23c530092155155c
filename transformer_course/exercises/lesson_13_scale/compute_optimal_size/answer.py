"""The answer to ``compute_optimal_size``, plainly and in steps."""

import torch

from transformer_course.steps import InSteps


def compute_optimal_size(n_parameters: list[int], losses: list[float]) -> float:
    """Return the size at the bottom of the parabola in log N that fits the losses best, by least squares."""
    x = torch.tensor(n_parameters, dtype=torch.float64).log()
    powers = torch.stack([x**2, x, torch.ones_like(x)], dim=1)
    y = torch.tensor(losses, dtype=torch.float64)
    a, b, _ = torch.linalg.lstsq(powers, y[:, None]).solution[:, 0]
    return (-b / (2 * a)).exp().item()


def x(n_parameters):
    """take the logarithms of the sizes

    the logarithms of the sizes: x = log N
    """
    return torch.tensor(n_parameters, dtype=torch.float64).log()


def powers(x):
    """put the powers of x side by side

    what the coefficients are multiplied by: x², x and 1
    """
    return torch.stack([x**2, x, torch.ones_like(x)], dim=1)


def y(losses):
    """take the losses

    the losses, as a column of numbers
    """
    return torch.tensor(losses, dtype=torch.float64)[:, None]


def coefficients(powers, y):
    """fit the parabola by least squares

    its coefficients: a, b and c of a x² + b x + c
    """
    return torch.linalg.lstsq(powers, y).solution[:, 0]


def bottom(coefficients):
    """find the bottom of the parabola

    its place: x = −b / 2a
    """
    return -coefficients[1] / (2 * coefficients[0])


def size(bottom):
    """turn the logarithm into a size

    the size: the exponential of x
    """
    return bottom.exp().item()


STEPS = InSteps(x, powers, y, coefficients, bottom, size, reference=compute_optimal_size)
