"""The answer to ``column_parallel``, plainly and in steps."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.steps import InSteps


def column_parallel(
    x: Float[Tensor, "n d_in"], matrix: Float[Tensor, "d_in d_out"], n_devices: int
) -> Float[Tensor, "n_devices n d_shard"]:
    """Return, for each device, the product of x and its shard of the matrix."""
    shards = torch.stack(matrix.chunk(n_devices, dim=1))
    return x @ shards


def shards(matrix, n_devices):
    """cut the matrix into as many equal parts as there are devices, along its columns

    each device's columns, (n_devices, d_in, d_shard)
    """
    return torch.stack(matrix.chunk(n_devices, dim=1))


def products(x, shards):
    """multiply x by each shard

    each device's part of the output features, (n_devices, n, d_shard)
    """
    return x @ shards


STEPS = InSteps(shards, products, reference=column_parallel)
