"""A linear layer whose rows lie on several devices."""

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
    """Return x @ matrix + bias, where device i has the i-th part of the features of x, and the rows that they meet."""
    rows = torch.stack(matrix.chunk(len(x_shards), dim=0))
    partial = x_shards @ rows
    return partial.sum(dim=0) + bias


def rows(matrix, x_shards):
    """cut the matrix into equal parts along its rows → each device's rows, (n_devices, d_shard, d_out)"""
    return torch.stack(matrix.chunk(len(x_shards), dim=0))


def partial(x_shards, rows):
    """multiply each device's features by its rows → each device's part of the sum, (n_devices, n, d_out)"""
    return x_shards @ rows


def total(partial):
    """add up over the devices → the product of the whole x and the whole matrix, (n, d_out)"""
    return partial.sum(dim=0)


def output(total, bias):
    """add the bias → the output of the layer, (n, d_out)"""
    return total + bias


STEPS = InSteps(rows, partial, total, output, reference=row_parallel)


def row_parallel_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, n_devices, d_shard, d_out, shows, *, digits=None):
        drawn = [normal(rng, n_devices, n, d_shard), normal(rng, n_devices * d_shard, d_out), normal(rng, d_out)]
        if digits is not None:  # to work by hand
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
        summary="the devices' parts are put side by side, not added up",
        message="{summary}. That is what is done with columns; each device's part of *rows* is a part of every sum.",
        hints=["What is the shape of one device's part, and what is that of the output?"],
    ),
    Mistake(
        "every_nth_row",
        STEPS.but(
            rows=lambda matrix, x_shards: torch.stack([matrix[i :: len(x_shards)] for i in range(len(x_shards))]),
        ),
        STEPS.but(rows=lambda matrix, x_shards: matrix.reshape(-1, len(x_shards), matrix.shape[1]).transpose(0, 1)),
        summary="the rows are dealt out in turn, one to each device",
        message="{summary}. Device 0 has the *first* features of x, so it needs the first rows.",
        hints=["Which features of x does device 0 have? Which rows do they meet?"],
    ),
    Mistake(
        "number_taken_for_a_size",
        STEPS.but(rows=lambda matrix, x_shards: torch.stack(matrix.split(len(x_shards), dim=0))),
        summary="the number of devices is taken for the number of rows of each",
        message="{summary}. Look up whether your function wants the number of parts or the size of a part.",
        hints=["With 2 devices and 6 rows, how many rows has each device?"],
    ),
    Mistake(
        "every_device_keeps_its_own",
        STEPS.but(total=lambda partial: partial),
        STEPS.but(output=lambda partial: partial * 1.0),
        summary="nothing is added up over the devices",
        message="{summary}: each keeps its own part of the sum, and no device has the output.",
        hints=["What is the shape of the output that is asked for?"],
    ),
    Mistake(
        "one_device_only",
        STEPS.but(total=lambda partial: partial[0]),
        STEPS.but(total=lambda partial: partial[-1]),
        summary="only one device's part counts",
        hints=["Does the output change when the features of the other devices do?"],
    ),
    Mistake(
        "joins_x_by_reshaping",
        STEPS.but(total=lambda x_shards, matrix: x_shards.reshape(x_shards.shape[1], -1) @ matrix),
        summary="x is put together by a reshape, which mixes its rows",
        message="{summary}. Besides, x need not be put together: each device can multiply what it has.",
        hints=["Write down `torch.arange(8).view(2, 2, 2).reshape(2, -1)`. Are its rows those of x?"],
    ),
    Mistake(
        "a_copy_for_every_device",
        STEPS.but(output=lambda total, bias, x_shards: (total + bias).repeat(len(x_shards), 1, 1)),
        summary="the output is returned once for every device",
        message="{summary}. That is what an all-reduce leaves behind; asked for is the output itself.",
        hints=["How many axes has the output that is asked for?"],
    ),
]


EXERCISE = Exercise(
    reference=row_parallel,
    steps=STEPS,
    cases=row_parallel_cases,
    points=2,
    verified="The parts of all devices add up to the product, and the bias is in it once.",
    hints=[
        "A feature of x meets one row of the matrix. Device 0 has the first features of x, so it needs the first rows.",
        "`matrix.chunk(n, dim=0)` cuts a matrix into n parts between its rows.",
        "Each device has a part of every sum: add up over the devices.",
        "The bias must be in the result once, however many devices there are.",
    ],
    messages={
        "moved_total: output": Wording(
            summary="each device adds the bias to its part, so the sum holds it once for every device",
            hints=["With 4 devices, how often is the bias in the result?"],
        ),
        "done_again_output: partial": Wording(
            summary="the bias is added on each device, and to the sum once more",
            hints=["How often is the bias in the result? Count it with one device."],
        ),
        "sibling_total: partial.mean(dim=0)": Wording(
            "{summary}. Each has a part of one long sum; gradients of workers are averaged, these are not.",
            summary="the devices' parts are averaged, not added up",
            hints=[
                "A product of 4 features is a sum of 4 numbers. If 2 devices have 2 each, what do you do with theirs?"
            ],
        ),
        "axis_rows: matrix.chunk(len(x_shards), dim=1)": Wording(
            "{summary}. A device has d_shard features of x: which numbers of the matrix do they meet?",
            summary="the matrix is cut between its columns, not between its rows",
            hints=["A feature of x is multiplied by one row of the matrix. Which rows does device 1 need?"],
        ),
    },
    mistakes=MISTAKES,
)
