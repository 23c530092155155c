"""Tensor parallelism: a linear layer whose matrix is split by rows across several devices."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def row_parallel(
    x_shards: Float[Tensor, "n_devices n d_shard"], matrix: Float[Tensor, "d_in d_out"], bias: Float[Tensor, " d_out"]
) -> Float[Tensor, "n d_out"]:
    """Return x @ matrix + bias, where device i holds part i of the features of x and the corresponding rows."""
    rows = torch.stack(matrix.chunk(len(x_shards), dim=0))
    partial = x_shards @ rows
    return partial.sum(dim=0) + bias


def rows(matrix, x_shards):
    """split the matrix into equal parts along its rows → each device's rows, (n_devices, d_shard, d_out)"""
    return torch.stack(matrix.chunk(len(x_shards), dim=0))


def partial(x_shards, rows):
    """multiply each device's features by its rows → each device's partial sum, (n_devices, n, d_out)"""
    return x_shards @ rows


def total(partial):
    """sum over the devices → the full product: x @ matrix, (n, d_out)"""
    return partial.sum(dim=0)


def output(total, bias):
    """add the bias → the output of the layer, (n, d_out)"""
    return total + bias


STEPS = InSteps(rows, partial, total, output, reference=row_parallel)


def row_parallel_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, n_devices, d_shard, d_out, shows, *, digits=None):
        drawn = [normal(rng, n_devices, n, d_shard), normal(rng, n_devices * d_shard, d_out), normal(rng, d_out)]
        if digits is not None:  # rounded, so that the case is easy to do by hand
            drawn = [tensor.round(decimals=digits) for tensor in drawn]
        return Case(dict(zip(("x_shards", "matrix", "bias"), drawn, strict=True)), shows)

    no_bias = case(3, 2, 3, 2, "2 devices with 3 rows each, and a bias of zeros")
    no_bias.inputs["bias"].copy_(torch.zeros(2))
    return [
        case(1, 1, 2, 2, "one device, which has the whole matrix", digits=1),
        case(1, 2, 1, 2, "2 devices with a row each", digits=1),
        no_bias,
        case(2, 3, 4, 6, "3 devices with 4 rows each"),
        case(5, 2, 5, 4, "2 devices with 5 rows each"),
        case(17, 5, 13, 7, "5 devices with 13 rows each"),
    ]


def side_by_side(parts):
    return torch.cat(list(parts), dim=-1)


MISTAKES = [
    Mistake(
        "puts_the_parts_side_by_side",
        STEPS.but(output=lambda partial, bias: side_by_side(partial + bias)),
        STEPS.but(output=lambda partial: side_by_side(partial)),
        STEPS.but(output=lambda partial, bias: side_by_side(partial) + bias.repeat(len(partial))),
        summary="you concatenate the devices' parts instead of adding them up",
        message=(
            "{summary}, so with 2 devices your output has twice as many columns as it should. Concatenation is right "
            "for shards of *columns*. With shards of rows, each device has a part of every sum."
        ),
        hints=["Which shape does one device's part have, and which shape should the output have?"],
    ),
    Mistake(
        "every_nth_row",
        STEPS.but(
            rows=lambda matrix, x_shards: torch.stack([matrix[i :: len(x_shards)] for i in range(len(x_shards))]),
        ),
        STEPS.but(rows=lambda matrix, x_shards: matrix.reshape(-1, len(x_shards), matrix.shape[1]).transpose(0, 1)),
        summary="you give each device every n_devices-th row",
        message=(
            "{summary}: with 4 rows and 2 devices, device 0 gets rows 0 and 2. But device 0 has features 0 and 1 of x. "
            "Which rows does it need?"
        ),
        hints=["Which row of the matrix is multiplied by feature 0 of x, and which by feature 1?"],
    ),
    Mistake(
        "number_taken_for_a_size",
        STEPS.but(rows=lambda matrix, x_shards: torch.stack(matrix.split(len(x_shards), dim=0))),
        summary="you use the number of devices as the number of rows per device",
        message=(
            "{summary}. With 2 devices and 6 rows, you get 3 parts of 2 rows each. Does the function you call to split "
            "the matrix take the number of parts or the size of each part?"
        ),
        hints=["With 2 devices and 6 rows, how many parts do you need, and how many rows has each?"],
    ),
    Mistake(
        "every_device_keeps_its_own",
        STEPS.but(total=lambda partial: partial),
        STEPS.but(output=lambda partial: partial * 1.0),
        summary="you don't add up the devices' parts",
        message=(
            "{summary}, so each device keeps a partial sum, and none has the output. Over which `dim` should you sum?"
        ),
        hints=["Which shape should the output have, and which shape does yours have?"],
    ),
    Mistake(
        "one_device_only",
        STEPS.but(total=lambda partial: partial[0]),
        STEPS.but(total=lambda partial: partial[-1]),
        summary="you use only one device's part",
        message="{summary}. The other devices have the rest of every sum. Where do you add their parts?",
        hints=["If the features on the other devices change, should your output change?"],
    ),
    Mistake(
        "joins_x_by_reshaping",
        STEPS.but(total=lambda x_shards, matrix: x_shards.reshape(x_shards.shape[1], -1) @ matrix),
        summary="you join the shards of x by a reshape, which mixes its rows",
        message=(
            "{summary}: with 2 devices, the second half of a row comes from another row. You don't need to join the "
            "shards. What can each device multiply its own features by?"
        ),
        hints=["Print `torch.arange(8).view(2, 2, 2).reshape(2, -1)`. Does its first row hold the first row of x?"],
    ),
    Mistake(
        "a_copy_for_every_device",
        STEPS.but(output=lambda total, bias, x_shards: (total + bias).repeat(len(x_shards), 1, 1)),
        summary="you return one copy of the output for each device",
        message=(
            "{summary}, as an all-reduce would, so your output has an extra dimension. Which shape should the output "
            "have?"
        ),
        hints=["How many dimensions should the output have, and how many does yours have?"],
    ),
]


EXERCISE = Exercise(
    reference=row_parallel,
    steps=STEPS,
    cases=row_parallel_cases,
    points=2,
    verified="The parts of all devices add up to the full product, and you add the bias exactly once.",
    hints=[
        "x has 4 features on 2 devices. Which features does device 0 have, and which rows of the matrix does it need?",
        "Each feature of x is multiplied by one row of the matrix, so each device computes a part of every sum. Add "
        "the parts up over the devices.",
        "`matrix.chunk(n, dim=0)` splits a matrix into n parts along its rows.",
        "`torch.stack` puts the parts into one tensor, `x_shards @ rows` has one part for each device, and "
        "`.sum(dim=0)` adds them up. Add the bias once, after that.",
    ],
    messages={
        "moved_total: output": Wording(
            "{summary}, so the sum contains the bias n_devices times. When should you add it?",
            summary="you add the bias on every device",
            hints=["With 4 devices and x = 0, what should the output be, and what is yours?"],
        ),
        "done_again_output: partial": Wording(
            "{summary}. With 2 devices, your output contains the bias 3 times.",
            summary="you add the bias on each device and again to the sum",
            hints=["With a single device, how many times is the bias in your result?"],
        ),
        "sibling_total: partial.mean(dim=0)": Wording(
            "{summary}, so with 2 devices the product is half of what it should be. Each device has a part of one long "
            "sum.",
            summary="you average the devices' parts instead of adding them up",
            hints=[
                "A dot product of 4 features is a sum of 4 numbers. If 2 devices have 2 of them each, how do you get "
                "the sum?"
            ],
        ),
        "part_left_out_output: total": Wording(
            "{summary}. For x = 0, the output should be the bias, and yours is 0.",
            summary="you never add the bias",
        ),
        "axis_rows: matrix.chunk(len(x_shards), dim=1)": Wording(
            "{summary}. Each device holds only d_shard of the features of x. Which part of the matrix should those "
            "features be multiplied by?",
            summary="you split the matrix by columns",
            hints=["Each feature of x is multiplied by one row of the matrix. Which rows does device 1 need?"],
        ),
    },
    mistakes=MISTAKES,
)
