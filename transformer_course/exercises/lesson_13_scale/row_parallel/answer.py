"""The answer to ``row_parallel``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def row_parallel(
    x_shards: Float[Tensor, "n_devices n d_shard"], matrix: Float[Tensor, "d_in d_out"], bias: Float[Tensor, " d_out"]
) -> Float[Tensor, "n d_out"]:
    """Return x @ matrix + bias, where device i has the i-th part of the features of x, and the rows that they meet."""
    rows = torch.stack(matrix.chunk(len(x_shards), dim=0))
    partial = x_shards @ rows
    return partial.sum(dim=0) + bias


def rows(matrix, x_shards):
    """cut the matrix into as many equal parts as there are devices, along its rows

    each device's rows, (n_devices, d_shard, d_out)
    """
    return torch.stack(matrix.chunk(len(x_shards), dim=0))


def partial(x_shards, rows):
    """multiply each device's features by its rows

    each device's part of the sum, (n_devices, n, d_out)
    """
    return x_shards @ rows


def total(partial):
    """add up over the devices

    the product of the whole x and the whole matrix, (n, d_out)
    """
    return partial.sum(dim=0)


def output(total, bias):
    """add the bias

    the output of the layer, (n, d_out)
    """
    return total + bias


STEPS = InSteps(rows, partial, total, output, reference=row_parallel)
