"""Which micro-batch each stage of a pipeline works on, and when: one forward pass, one backward pass (1F1B)."""

import torch

from transformer_course.exercise import Exercise
from transformer_course.exercises.lesson_13_scale.pipeline_schedule.answer import STEPS, pipeline_schedule
from transformer_course.exercises.lesson_13_scale.pipeline_schedule.mistakes import MISTAKES
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case


def pipeline_schedule_cases(seed: int) -> list[Case]:
    rng = generator(seed)

    def between(low: int, high: int) -> int:
        return int(torch.randint(low, high + 1, (), generator=rng))

    def case(n_stages: int, n_microbatches: int, shows: str) -> Case:
        return Case({"n_stages": n_stages, "n_microbatches": n_microbatches}, shows)

    few, some, many = between(5, 9), between(10, 20), between(21, 40)
    stages = between(5, 8)
    return [
        case(1, 2, "one stage, 2 micro-batches"),
        case(2, 1, "2 stages, one micro-batch"),
        case(2, 3, "2 stages, 3 micro-batches"),
        case(4, 2, "4 stages, 2 micro-batches: fewer than stages"),
        case(3, few, f"3 stages, {few} micro-batches"),
        case(4, some, f"4 stages, {some} micro-batches"),
        case(stages, many, f"{stages} stages, {many} micro-batches"),
    ]


PIPELINE_SCHEDULE = Exercise(
    reference=pipeline_schedule,
    steps=STEPS,
    cases=pipeline_schedule_cases,
    points=4,
    verified="Every pass waits for what it needs, no stage holds more micro-batches than it may, and the pipeline is "
    "done as early as it can be.",
    hints=[
        "Count for each stage its forward and its backward passes so far. Together with those of its neighbours, they "
        "say what it can do next.",
        "A forward pass needs one that the stage before has done and this stage has not; the first stage has all "
        "micro-batches from the start. A backward pass needs one of the stage after; the last stage, a forward pass "
        "of its own.",
        "A stage holds as many micro-batches as it has done forward passes more than backward passes. It may begin "
        "another if it holds fewer than n_stages − stage.",
        "All stages decide at once: choose for all of them with the counts from *before* the tick, and only then "
        "count. The schedule has 2 · (n_stages + n_microbatches − 1) ticks.",
    ],
    told={
        "part_left_out_room": (
            "Every stage may hold as many micro-batches as there are stages. The last one gets its micro-batch back at "
            "once, and needs to hold one alone."
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
