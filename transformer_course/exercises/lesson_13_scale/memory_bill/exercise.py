"""What a step of training keeps in memory."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_13_scale.memory_bill.answer import STEPS, memory_bill
from transformer_course.exercises.lesson_13_scale.memory_bill.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


def memory_bill_cases(seed: int) -> list[Case]:
    n, n_layers, d_model, n_tokens = (2 * torch.randint(10, 90, (4,), generator=generator(seed)) + 1).tolist()
    rows = [
        (22, 1, 5, 41.0, 7, 1, False, "one layer"),
        (1100, 3, 5, 41.0, 7, 1, False, "3 layers"),
        (1100, 3, 5, 41.0, 7, 1, True, "the same with checkpointing"),
        (1100, 3, 5, 41.0, 7, 8, False, "8 workers"),
        (n, n_layers, d_model, 10.5 * d_model, n_tokens, 4, True, "4 workers, checkpointing, and other sizes"),
    ]
    return [Case(dict(zip(STEPS.arguments.parameters, row, strict=False)), row[-1]) for row in rows]


MEMORY_BILL = Exercise(
    reference=memory_bill,
    steps=STEPS,
    cases=memory_bill_cases,
    points=2,
    verified="Four lines, with checkpointing and without, for one worker and for many.",
    hints=[
        "Begin with one worker, one layer, and one token. How many numbers has each line, and how many bytes a number?",
        "A parameter has one gradient and two means. With checkpointing, all inputs are kept, and one layer's numbers.",
        "With checkpointing, `n_layers * d_model + n_kept` numbers for each token; without, `n_layers * n_kept`.",
    ],
    mistakes=MISTAKES,
)
