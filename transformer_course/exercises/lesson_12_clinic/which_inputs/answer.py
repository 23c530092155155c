"""The answer to ``which_inputs``, plainly and in steps."""

import functools
from collections.abc import Callable

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from transformer_course.steps import InSteps


def which_inputs(model: Callable[[Tensor], Tensor], x: Float[Tensor, "n_in d"]) -> Bool[Tensor, "n_out n_in"]:
    """Return on which inputs each output depends: entry i, j is True where output i changes with input j."""
    before = model(x)
    columns = []
    for position in range(len(x)):
        changed = x.clone()
        changed[position] = torch.randn_like(x[position])  # anything else: a shift alone, a norm may take out again
        columns.append((model(changed) - before).abs().amax(dim=-1) > 1e-5)
    return torch.stack(columns, dim=1)


def before(model, x):
    """run it on x as it is

    the outputs for x as it is
    """
    return model(x)


def positions(x):
    """go through all positions of x

    the positions of x
    """
    return range(len(x))


def copy(x):
    """copy x, for each position anew

    what makes a fresh copy of x
    """
    return x.clone


def place():
    """choose what to change: the vector at one position

    the place that is changed: one position
    """
    return lambda position: position


def another():
    """draw another vector

    what makes another vector of a vector: random numbers
    """
    return functools.partial(_draw, torch.Generator().manual_seed(0))  # the same for each mistake that is tried


def _draw(generator, vector):
    return torch.randn(vector.shape, generator=generator)


def change(copy, place, another):
    """write the other vector into the copy

    x with one position changed
    """

    def changed(position):
        x, where = copy(), place(position)
        x[where] = another(x[where])
        return x

    return changed


def differences():
    """subtract the outputs before from those after

    the differences, (n_out, d_out)
    """
    return lambda after, before: after - before


def size():
    """take the largest difference at each output

    the size of the change at each output: its largest difference
    """
    return lambda differences: differences.abs().amax(dim=-1)


def moved():
    """tell a change from rounding

    whether a change is larger than rounding
    """
    return lambda sizes: sizes > 1e-5


def columns(model, before, positions, change, differences, size, moved):
    """run it after each change, and note which outputs moved

    for each input, which outputs change with it
    """
    return [moved(size(differences(model(change(position)), before))) for position in positions]


def table(columns):
    """make a column of each input

    the table: outputs down, inputs across
    """
    return torch.stack(columns, dim=1)


STEPS = InSteps(
    before, positions, copy, place, another, change, differences, size, moved, columns, table, reference=which_inputs
)
