"""The answer to ``fit_scaling_law``, plainly and in steps."""

import torch

from transformer_course.steps import InSteps


def fit_scaling_law(n_parameters: list[int], losses: list[float], irreducible: float) -> tuple[float, float]:
    """Return b and α of the law loss = irreducible + b · n_parameters^(−α): on log-log axes, a straight line."""
    x = torch.tensor(n_parameters, dtype=torch.float64).log()
    y = (torch.tensor(losses, dtype=torch.float64) - irreducible).log()
    from_mean = x - x.mean()
    slope = (from_mean * (y - y.mean())).sum() / from_mean.square().sum()
    intercept = y.mean() - slope * x.mean()
    return intercept.exp().item(), -slope.item()


def x(n_parameters):
    """take the logarithms of the sizes

    the logarithms of the sizes: x = log N
    """
    return torch.tensor(n_parameters, dtype=torch.float64).log()


def reducible(losses, irreducible):
    """subtract the irreducible loss

    what a larger model can still gain: loss − irreducible
    """
    return torch.tensor(losses, dtype=torch.float64) - irreducible


def y(reducible):
    """take the logarithms of what is left of the losses

    their logarithms: y = log(loss − irreducible)
    """
    return reducible.log()


def slope(x, y):
    """fit the slope of a straight line

    the slope of the line: Σ (x − x̄)(y − ȳ) / Σ (x − x̄)²
    """
    from_mean = x - x.mean()
    return (from_mean * (y - y.mean())).sum() / from_mean.square().sum()


def intercept(x, y, slope):
    """find where the line crosses x = 0

    the height of the line at x = 0: ȳ − slope · x̄
    """
    return y.mean() - slope * x.mean()


def factor(intercept):
    """take the exponential of the intercept

    the factor b: the exponential of the intercept
    """
    return intercept.exp().item()


def exponent(slope):
    """turn the sign of the slope round

    the exponent α: minus the slope
    """
    return -slope.item()


def law(factor, exponent):
    """return the factor and the exponent

    the law: b and α
    """
    return factor, exponent


STEPS = InSteps(x, reducible, y, slope, intercept, factor, exponent, law, reference=fit_scaling_law)
