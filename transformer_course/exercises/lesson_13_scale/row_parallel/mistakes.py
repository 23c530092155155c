"""What goes wrong when a matrix is cut by its rows."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.row_parallel.answer import STEPS


def side_by_side(parts):
    return torch.cat(list(parts), dim=-1)


MISTAKES = [
    Mistake(
        "bias_on_every_device",
        STEPS.but(partial=lambda partial, bias: partial + bias, output=lambda total: total),
        STEPS.but(output=lambda total, bias, x_shards: total + len(x_shards) * bias),
        does="each device adds the bias to its part, so the sum holds it once for every device",
        hints=["With 4 devices, how often is the bias in the result?"],
    ),
    Mistake(
        "bias_twice",
        STEPS.but(partial=lambda partial, bias: partial + bias),
        does="the bias is added on each device, and to the sum once more",
        hints=["How often is the bias in the result? Count it with one device."],
    ),
    Mistake(
        "mean_over_the_devices",
        STEPS.but(total=lambda partial: partial.mean(dim=0)),
        does="the devices' parts are averaged, not added up",
        says="{does}. Each has a part of one long sum; gradients of workers are averaged, these are not.",
        hints=["A product of 4 features is a sum of 4 numbers. If 2 devices have 2 each, what do you do with theirs?"],
    ),
    Mistake(
        "puts_the_parts_side_by_side",
        STEPS.but(output=lambda partial, bias: side_by_side(partial + bias)),
        STEPS.but(output=lambda partial: side_by_side(partial)),
        STEPS.but(output=lambda partial, bias: side_by_side(partial) + bias.repeat(len(partial))),
        does="the devices' parts are put side by side, not added up",
        says="{does}. That is what is done with columns; each device's part of *rows* is a part of every sum.",
        hints=["What is the shape of one device's part, and what is that of the output?"],
    ),
    Mistake(
        "cuts_the_columns",
        STEPS.but(rows=lambda matrix, x_shards: torch.stack(matrix.chunk(len(x_shards), dim=1))),
        does="the matrix is cut between its columns, not between its rows",
        says="{does}. A device has d_shard features of x: which numbers of the matrix do they meet?",
        hints=["A feature of x is multiplied by one row of the matrix. Which rows does device 1 need?"],
    ),
    Mistake(
        "every_nth_row",
        STEPS.but(
            rows=lambda matrix, x_shards: torch.stack([matrix[i :: len(x_shards)] for i in range(len(x_shards))]),
        ),
        STEPS.but(rows=lambda matrix, x_shards: matrix.reshape(-1, len(x_shards), matrix.shape[1]).transpose(0, 1)),
        does="the rows are dealt out in turn, one to each device",
        says="{does}. Device 0 has the *first* features of x, so it needs the first rows.",
        hints=["Which features of x does device 0 have? Which rows do they meet?"],
    ),
    Mistake(
        "number_taken_for_a_size",
        STEPS.but(rows=lambda matrix, x_shards: torch.stack(matrix.split(len(x_shards), dim=0))),
        does="the number of devices is taken for the number of rows of each",
        says="{does}. Look up whether your function wants the number of parts or the size of a part.",
        hints=["With 2 devices and 6 rows, how many rows has each device?"],
    ),
    Mistake(
        "every_device_keeps_its_own",
        STEPS.but(total=lambda partial: partial),
        STEPS.but(output=lambda partial: partial * 1.0),
        does="nothing is added up over the devices",
        says="{does}: each keeps its own part of the sum, and no device has the output.",
        hints=["What is the shape of the output that is asked for?"],
    ),
    Mistake(
        "one_device_only",
        STEPS.but(total=lambda partial: partial[0]),
        STEPS.but(total=lambda partial: partial[-1]),
        does="only one device's part counts",
        hints=["Does the output change when the features of the other devices do?"],
    ),
    Mistake(
        "joins_x_by_reshaping",
        STEPS.but(total=lambda x_shards, matrix: x_shards.reshape(x_shards.shape[1], -1) @ matrix),
        does="x is put together by a reshape, which mixes its rows",
        says="{does}. Besides, x need not be put together: each device can multiply what it has.",
        hints=["Write down `torch.arange(8).view(2, 2, 2).reshape(2, -1)`. Are its rows those of x?"],
    ),
    Mistake(
        "a_copy_for_every_device",
        STEPS.but(output=lambda total, bias, x_shards: (total + bias).repeat(len(x_shards), 1, 1)),
        does="the output is returned once for every device",
        says="{does}. That is what an all-reduce leaves behind; asked for is the output itself.",
        hints=["How many axes has the output that is asked for?"],
    ),
]
