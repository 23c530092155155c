"""The answer to ``gradient_norms``, plainly and in steps."""

import torch
from torch import nn

from transformer_lab.course.steps import InSteps


def gradient_norms(model: nn.Module) -> dict[str, float]:
    """Return the norm of each parameter's gradient by the parameter's name: 0 where no gradient has arrived."""
    return {
        name: 0.0 if parameter.grad is None else parameter.grad.norm().item()
        for name, parameter in model.named_parameters()
    }


def parameters(model):
    """list the parameters with their names

    the parameters with their names, each once
    """
    return list(model.named_parameters())


def listed():
    """list them all, trained or not

    whether a parameter is listed: always
    """
    return lambda parameter: True


def gradient():
    """take the gradient of a parameter

    the gradient of a parameter, or None: its `grad`
    """
    return lambda parameter: parameter.grad


def of_none():
    """take zeros for a gradient that has not arrived

    what stands for a gradient that has not arrived: zeros
    """
    return lambda parameter: torch.zeros_like(parameter)


def arrived(gradient, of_none):
    """get a gradient for every parameter

    the gradient of a parameter, which is zeros where none has arrived
    """
    return lambda parameter: of_none(parameter) if gradient(parameter) is None else gradient(parameter)


def squares():
    """square the numbers of a gradient

    the squares of the numbers of a gradient
    """
    return lambda gradient: gradient.square()


def total():
    """add the squares up

    the sum of the squares
    """
    return lambda squares: squares.sum()


def root():
    """take the root of the sum

    the norm: the root of the sum
    """
    return lambda total: total.sqrt()


def norm(squares, total, root):
    """make a number of each gradient

    the norm of a gradient
    """
    return lambda gradient: root(total(squares(gradient)))


def key():
    """call each by its name

    what a norm is found by: the name of its parameter
    """
    return lambda name, index: name


def norms(parameters, listed, arrived, norm, key):
    """make a dict of names and norms

    the norms by name
    """
    of_all = [(name, parameter) for name, parameter in parameters if listed(parameter)]
    return {key(name, index): norm(arrived(parameter)).item() for index, (name, parameter) in enumerate(of_all)}


STEPS = InSteps(
    parameters, listed, gradient, of_none, arrived, squares, total, root, norm, key, norms, reference=gradient_norms
)
