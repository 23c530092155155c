"""The answer to ``gradient_norms``, plainly and in steps."""

from torch import nn

from transformer_course.steps import InSteps


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
    return lambda name, parameter: True


def gradient():
    """take the gradient of a parameter

    the gradient of a parameter, or None: its `grad`
    """
    return lambda parameter: parameter.grad


def missing():
    """take 0 where no gradient has arrived

    the number for a missing gradient: 0
    """
    return lambda parameter: 0.0


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

    the root of the sum of the squares
    """
    return lambda total: total.sqrt()


def number():
    """make a plain number of it

    the norm as a plain number
    """
    return lambda norm: norm.item()


def norm(gradient, missing, squares, total, root, number):
    """find the norm of the gradient of each parameter

    the norm of the gradient of a parameter
    """

    def of(parameter):
        arrived = gradient(parameter)
        return missing(parameter) if arrived is None else number(root(total(squares(arrived))))

    return of


def key():
    """call each by its name

    the key of a norm: the name of its parameter
    """
    return lambda name, index: name


def norms(parameters, listed, norm, key):
    """make a dict of names and norms

    the norms by name
    """
    of_all = [(name, parameter) for name, parameter in parameters if listed(name, parameter)]
    return {key(name, index): norm(parameter) for index, (name, parameter) in enumerate(of_all)}


STEPS = InSteps(
    parameters, listed, gradient, missing, squares, total, root, number, norm, key, norms, reference=gradient_norms
)
