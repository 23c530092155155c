"""A linear layer whose rows lie on several devices."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_13_scale.row_parallel.answer import STEPS, row_parallel
from transformer_course.exercises.lesson_13_scale.row_parallel.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


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


ROW_PARALLEL = Exercise(
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
    mistakes=MISTAKES,
)
