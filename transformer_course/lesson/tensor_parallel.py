"""What one of several processes computes of a layer in parts, with the learner's parts: for lesson 13."""

from collections.abc import Sequence

import torch
import torch.distributed as dist
from jaxtyping import Float
from torch import Tensor

from transformer_lab.training.distributed import World


def feed_forward_shard(
    world: World,
    x: Float[Tensor, "n d_model"],
    shards: Sequence[tuple[Float[Tensor, "d_model d_shard"], Float[Tensor, "d_shard d_model"]]],
    bias: Float[Tensor, " d_model"],
) -> Float[Tensor, "n d_model"]:
    """Return the output of a feed-forward network that processes compute together: for ``run_processes``.

    ``relu(x @ w_1) @ w_2 + bias``. Each process has some columns of ``w_1``, and the rows of ``w_2`` that they meet.

    Args:
        world: The processes.
        x: The inputs, which all of them have.
        shards: Of each process its columns of the first matrix and its rows of the second.
        bias: The bias of the second layer.
    """
    from transformer_course import parts  # begins the session of a new process

    columns, rows = shards[world.rank]
    hidden = parts.column_parallel(x, columns, 1).relu()
    output: Tensor = parts.row_parallel(hidden, rows, torch.zeros_like(bias))
    dist.all_reduce(output)
    return output + bias
