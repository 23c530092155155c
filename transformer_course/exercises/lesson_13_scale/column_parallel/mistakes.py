"""What goes wrong when a matrix is cut by its columns."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.column_parallel.answer import STEPS


def by_rows(x, matrix, n_devices):
    """Multiply each part of the features by the rows that they meet."""
    pairs = zip(x.chunk(n_devices, dim=1), matrix.chunk(n_devices, dim=0), strict=True)
    return torch.stack([part @ rows for part, rows in pairs])


MISTAKES = [
    Mistake(
        "cuts_the_rows",
        STEPS.but(
            shards=lambda matrix, n_devices: torch.stack(matrix.chunk(n_devices, dim=0)),
            products=lambda x, shards: torch.stack(x.chunk(len(shards), dim=1)) @ shards,
        ),
        STEPS.but(shards=lambda matrix, n_devices: torch.stack(matrix.chunk(n_devices, dim=0))),
        STEPS.but(products=by_rows),
        does="the matrix is cut between its rows, not between its columns",
        says="{does}: so each device has a part of the input features, and of the output only a part of a sum.",
        hints=["How many output features should one device compute, if there are 2 devices and d_out is 4?"],
    ),
    Mistake(
        "reshapes_the_matrix",
        STEPS.but(shards=lambda matrix, n_devices: matrix.reshape(n_devices, len(matrix), -1)),
        does="the matrix is reshaped, which deals out its numbers in the order of memory",
        says="{does}: a device then holds pieces of whole rows, not columns.",
        hints=["Write down `torch.arange(8).view(2, 4).reshape(2, 2, 2)`. Are the two parts columns of the matrix?"],
    ),
    Mistake(
        "every_nth_column",
        STEPS.but(
            shards=lambda matrix, n_devices: torch.stack([matrix[:, i::n_devices] for i in range(n_devices)]),
        ),
        STEPS.but(shards=lambda matrix, n_devices: matrix.reshape(len(matrix), -1, n_devices).permute(2, 0, 1)),
        does="the columns are dealt out in turn, one to each device",
        says="{does}. Each device should have neighbouring ones, so that the parts put side by side are the output.",
        hints=["Put the parts of all devices side by side. Are the columns in the order of x @ matrix?"],
    ),
    Mistake(
        "puts_the_parts_together",
        STEPS.but(products=lambda x, shards: torch.cat([x @ shard for shard in shards], dim=-1)),
        does="the parts of all devices are put side by side",
        says="{does}. That would need communication; here each device keeps its own part.",
        hints=["What is the first axis of the output that is asked for?"],
    ),
    Mistake(
        "number_taken_for_a_size",
        STEPS.but(shards=lambda matrix, n_devices: torch.stack(matrix.split(n_devices, dim=1))),
        does="the number of devices is taken for the number of columns of each",
        says="{does}. `chunk` wants the number of parts, `split` the size of a part.",
        hints=["With 2 devices and 6 columns, how many columns has each device?"],
    ),
    Mistake(
        "devices_second",
        STEPS.but(products=lambda products: products.transpose(0, 1)),
        does="the axis of the devices comes second, after that of the rows of x",
    ),
]
