"""Tensor parallelism: a linear layer whose matrix is split by columns across several devices."""

import torch
from jaxtyping import Float
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def column_parallel(
    x: Float[Tensor, "n d_in"], matrix: Float[Tensor, "d_in d_out"], n_devices: int
) -> Float[Tensor, "n_devices n d_shard"]:
    """Return, for each device, the product of x and its shard of the matrix."""
    shards = torch.stack(matrix.chunk(n_devices, dim=1))
    return x @ shards


def shards(matrix, n_devices):
    """split the matrix into equal parts along its columns → each device's columns, (n_devices, d_in, d_shard)"""
    return torch.stack(matrix.chunk(n_devices, dim=1))


def products(x, shards):
    """multiply x by each shard → each device's output features, (n_devices, n, d_shard)"""
    return x @ shards


STEPS = InSteps(shards, products, reference=column_parallel)


def column_parallel_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, d_in, n_devices, d_shard, shows, *, digits=None):
        x, matrix = normal(rng, n, d_in), normal(rng, d_in, n_devices * d_shard)
        if digits is not None:  # rounded, so that the case is easy to do by hand
            x, matrix = x.round(decimals=digits), matrix.round(decimals=digits)
        return Case({"x": x, "matrix": matrix, "n_devices": n_devices}, shows)

    return [
        case(1, 2, 1, 2, "one device, which has the whole matrix", digits=1),
        case(1, 2, 2, 1, "2 devices with a column each", digits=1),
        case(2, 3, 2, 3, "2 devices with 3 columns each", digits=1),
        case(6, 4, 3, 2, "3 devices with 2 columns each"),
        case(4, 6, 2, 5, "2 devices with 5 columns each"),
        case(20, 7, 5, 13, "5 devices with 13 columns each"),
    ]


def by_rows(x, matrix, n_devices):
    """Multiply each part of the features by the corresponding rows."""
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
        summary="you split the matrix along its rows instead of its columns",
        message=(
            "{summary}, so a device computes only a part of each sum, not whole output features. Which `dim` counts "
            "the columns?"
        ),
        hints=["With 2 devices and d_out = 4, how many output features should one device compute?"],
    ),
    Mistake(
        "reshapes_the_matrix",
        STEPS.but(shards=lambda matrix, n_devices: matrix.reshape(n_devices, len(matrix), -1)),
        summary="you reshape the matrix instead of splitting its columns",
        message="{summary}. A reshape keeps the elements in order, so a device gets pieces of rows, not columns.",
        hints=["Print `torch.arange(8).view(2, 4).reshape(2, 2, 2)`. Are its two parts columns of the 2 × 4 matrix?"],
    ),
    Mistake(
        "every_nth_column",
        STEPS.but(
            shards=lambda matrix, n_devices: torch.stack([matrix[:, i::n_devices] for i in range(n_devices)]),
        ),
        STEPS.but(shards=lambda matrix, n_devices: matrix.reshape(len(matrix), -1, n_devices).permute(2, 0, 1)),
        summary="you give each device every n_devices-th column",
        message=(
            "{summary}: with 4 columns and 2 devices, device 0 gets columns 0 and 2 instead of 0 and 1. Each device "
            "should get neighboring columns."
        ),
        hints=["If you concatenate the parts of all devices, are the columns in the order of `x @ matrix`?"],
    ),
    Mistake(
        "puts_the_parts_together",
        STEPS.but(products=lambda x, shards: torch.cat([x @ shard for shard in shards], dim=-1)),
        summary="you concatenate the parts of all devices",
        message=(
            "{summary}, which needs communication between the devices. Here each device keeps its own part. What "
            "should the first dimension of your output count?"
        ),
        hints=["Which shape should your output have, and which shape does it have?"],
    ),
    Mistake(
        "number_taken_for_a_size",
        STEPS.but(shards=lambda matrix, n_devices: torch.stack(matrix.split(n_devices, dim=1))),
        summary="you use the number of devices as the number of columns per device",
        message=(
            "{summary}. With 2 devices and 6 columns, you get 3 parts of 2 columns. `chunk` takes the number of parts, "
            "`split` the size of a part."
        ),
        hints=["With 2 devices and 6 columns, how many parts do you need, and how many columns has each?"],
    ),
    Mistake(
        "devices_second",
        STEPS.but(products=lambda products: products.transpose(0, 1)),
        summary="you put the device dimension second, after the rows of x",
        message=(
            "{summary}, so `output[0]` is the result for row 0 of x instead of the result of device 0. Which `dim` "
            "should you stack along?"
        ),
        hints=[
            "Which device's result should `output[0]` be, and which shape should it have?",
        ],
    ),
    Mistake(
        "reshapes_the_product",
        STEPS.but(products=lambda x, matrix, n_devices: (x @ matrix).reshape(n_devices, len(x), -1)),
        summary="you reshape the whole product instead of splitting its columns",
        message=(
            "{summary}. A reshape keeps the elements in order, so a device gets some of the rows instead of its "
            "columns. Which dimension of the product should you split?"
        ),
        hints=["Print `torch.arange(8).view(2, 4).reshape(2, 2, 2)`. Which of the 4 columns does part 0 have?"],
    ),
]


EXERCISE = Exercise(
    reference=column_parallel,
    steps=STEPS,
    cases=column_parallel_cases,
    points=2,
    verified="Each device computes its own output features from its own columns, without communication.",
    hints=[
        "A matrix has 4 columns, and there are 2 devices. Which columns does device 0 get, and which output features "
        "can it compute?",
        "Each column of the matrix makes one output feature, so a device needs x and its own columns only.",
        "`matrix.chunk(n, dim=1)` splits a matrix into n parts along its columns.",
        "`torch.stack` puts the equal parts into one tensor with a new first dimension, and `x @ …` multiplies x by "
        "each of them.",
    ],
    mistakes=MISTAKES,
)
