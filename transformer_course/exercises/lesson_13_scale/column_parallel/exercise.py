"""A linear layer whose columns lie on several devices."""

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_13_scale.column_parallel.answer import STEPS, column_parallel
from transformer_course.exercises.lesson_13_scale.column_parallel.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator, normal
from transformer_course.running.case import Case


def column_parallel_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def case(n, d_in, n_devices, d_shard, shows, *, digits=None):
        x, matrix = normal(rng, n, d_in), normal(rng, d_in, n_devices * d_shard)
        if digits is not None:  # to work by hand
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


COLUMN_PARALLEL = Exercise(
    reference=column_parallel,
    steps=STEPS,
    cases=column_parallel_cases,
    points=2,
    verified="Each device computes its own output features from its own columns, and nothing had to be sent.",
    hints=[
        "A column of the matrix makes one output feature. Device 0 has the first columns, device 1 the next ones.",
        "`matrix.chunk(n, dim=1)` cuts a matrix into n parts between its columns.",
        "`torch.stack` makes one tensor of equal parts, with a new first axis; `@` multiplies x by each of them.",
    ],
    mistakes=MISTAKES,
)
