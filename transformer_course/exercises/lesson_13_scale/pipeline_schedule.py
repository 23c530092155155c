"""Pipeline parallelism: the 1F1B schedule, which alternates one forward pass and one backward pass."""

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def pipeline_schedule(n_stages: int, n_microbatches: int) -> Int[Tensor, "n_stages n_ticks"]:
    """Return each stage's work in each tick: m for a forward pass of micro-batch m, −m for a backward pass, or 0."""
    forwards, backwards, ticks = [0] * n_stages, [0] * n_stages, []
    for _ in range(2 * (n_stages + n_microbatches - 1)):
        tick = []
        for stage in range(n_stages):
            f, b = forwards[stage], backwards[stage]
            arrived = forwards[stage - 1] if stage > 0 else n_microbatches
            returned = backwards[stage + 1] if stage < n_stages - 1 else f
            if b < returned:
                tick.append(-(b + 1))
            elif f < arrived and f - b < n_stages - stage:
                tick.append(f + 1)
            else:
                tick.append(0)
        ticks.append(tick)
        for stage, work in enumerate(tick):
            forwards[stage] += work > 0
            backwards[stage] += work < 0
    return torch.tensor(ticks).T


def room(n_stages):
    """limit the micro-batches that a stage holds → the limit of a stage: n_stages − stage micro-batches"""
    return lambda stage: n_stages - stage


def arrived(n_microbatches):
    """count the micro-batches from the previous stage → the number of arrived micro-batches: the previous stage's
    forward passes, or all micro-batches for the first stage
    """
    return lambda stage, forwards: forwards[stage - 1] if stage > 0 else n_microbatches


def returned(n_stages):
    """count the micro-batches from the next stage → the number of returned micro-batches: the next stage's backward
    passes, or the last stage's own forward passes
    """
    return lambda stage, forwards, backwards: backwards[stage + 1] if stage < n_stages - 1 else forwards[stage]


def may_backward(returned):
    """check whether a backward pass can run → the test for a backward pass"""
    return lambda stage, forwards, backwards: backwards[stage] < returned(stage, forwards, backwards)


def may_forward(arrived, room):
    """check for input and room → the test for a forward pass: there is a micro-batch, and room for it"""

    def may(stage, forwards, backwards):
        held = forwards[stage] - backwards[stage]
        return forwards[stage] < arrived(stage, forwards) and held < room(stage)

    return may


def choice(may_backward, may_forward):
    """prefer a backward pass to a forward pass → the choice of a stage: a backward pass if possible, else a forward
    pass if possible, else nothing
    """

    def chosen(stage, forwards, backwards):
        if may_backward(stage, forwards, backwards):
            return -(backwards[stage] + 1)
        return forwards[stage] + 1 if may_forward(stage, forwards, backwards) else 0

    return chosen


def n_ticks(n_stages, n_microbatches):
    """count the ticks → the number of ticks: 2 · (n_stages + n_microbatches − 1)"""
    return 2 * (n_stages + n_microbatches - 1)


def ticks(choice, n_ticks, n_stages):
    """let all stages choose in every tick → the choices of all stages, (n_ticks, n_stages)"""
    forwards, backwards, ticks = [0] * n_stages, [0] * n_stages, []
    for _ in range(n_ticks):
        ticks.append([choice(stage, forwards, backwards) for stage in range(n_stages)])
        for stage, work in enumerate(ticks[-1]):
            forwards[stage] += work > 0
            backwards[stage] += work < 0
    return ticks


def schedule(ticks):
    """transpose to one row for each stage → the schedule, (n_stages, n_ticks)"""
    return torch.tensor(ticks).T


STEPS = InSteps(
    room, arrived, returned, may_backward, may_forward, choice, n_ticks, ticks, schedule, reference=pipeline_schedule
)


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
        case(4, 2, "4 stages, 2 micro-batches: fewer micro-batches than stages"),
        case(3, few, f"3 stages, {few} micro-batches"),
        case(4, some, f"4 stages, {some} micro-batches"),
        case(stages, many, f"{stages} stages, {many} micro-batches"),
    ]


def all_forward_first(may_backward, may_forward, n_microbatches):
    """Run all forward passes before the first backward pass."""

    def chosen(stage, forwards, backwards):
        if may_forward(stage, forwards, backwards):
            return forwards[stage] + 1
        done = forwards[stage] == n_microbatches
        return -(backwards[stage] + 1) if done and may_backward(stage, forwards, backwards) else 0

    return chosen


def ticks_until_done(order=0):
    """Return the step that runs ticks until all backward passes are done, without computing their number first.

    A stage's choice depends on the work done before the tick. With ``order`` 1 or −1, the choice also depends on the
    work done in the same tick by the stages before or after it.
    """

    def ticks(choice, n_stages, n_microbatches):
        forwards, backwards, ticks = [0] * n_stages, [0] * n_stages, list[list[int]]()
        while min(backwards) < n_microbatches and len(ticks) < 4 * (n_stages + n_microbatches):
            before = (forwards, backwards) if order else (forwards.copy(), backwards.copy())
            ticks.append([0] * n_stages)
            for stage in range(n_stages)[:: order or 1]:
                work = ticks[-1][stage] = choice(stage, *before)
                forwards[stage] += work > 0
                backwards[stage] += work < 0
        return ticks

    return ticks


def counts_at_once(order):
    """Return the step in which a stage also counts what earlier stages, in this order, do in the same tick."""

    def ticks(choice, n_ticks, n_stages, n_microbatches):
        done = ticks_until_done(order)(choice, n_stages, n_microbatches)
        return done + [[0] * n_stages] * (n_ticks - len(done))

    return ticks


def at_fixed_ticks(in_turn):
    """Return the step that runs each stage's forward passes in consecutive ticks, without a limit on its memory.

    If ``in_turn``, both passes of a micro-batch are written together. Otherwise, all forward passes are written first.
    Later writes overwrite earlier writes.
    """

    def schedule(n_stages, n_microbatches, n_ticks):
        result = torch.zeros(n_stages, n_ticks, dtype=torch.long)
        for stage in range(n_stages):
            passes = [(stage + m, m + 1) for m in range(n_microbatches)]
            back = [(2 * n_stages - 1 - stage + 2 * m, -m - 1) for m in range(n_microbatches)]
            for tick, work in sorted(passes + back, key=lambda one: abs(one[1])) if in_turn else passes + back:
                result[stage, tick] = work
        return result

    return schedule


def warm_up_not_limited(n_stages, n_microbatches):
    """Let each stage start as many micro-batches as it may store, even if there are fewer micro-batches."""

    def arrived(stage, forwards):
        all_of_them = max(n_microbatches, n_stages - stage)
        return min(all_of_them, forwards[stage - 1]) if stage > 0 else all_of_them

    return arrived


def from_zero(schedule):
    return torch.where(schedule > 0, schedule - 1, torch.where(schedule < 0, schedule + 1, schedule))


def no_limit():
    return lambda stage: 10**9


def never():
    return lambda stage, forwards, backwards: False


def own_forward():
    return lambda stage, forwards, backwards: forwards[stage]


def last_room_first():
    return lambda stage: stage + 1


MISTAKES = [
    Mistake(
        "all_forward_first",
        STEPS.but(room=no_limit, choice=all_forward_first),
        summary="you run all forward passes before the first backward pass",
        message=(
            "{summary}. That is GPipe: it takes the same time, but each stage keeps the activations of *all* "
            "micro-batches. When could the first backward pass start?"
        ),
        hints=[
            "With 2 stages and 3 micro-batches, what can the last stage do right after its first forward pass?",
        ],
    ),
    Mistake(
        "one_too_few",
        STEPS.but(room=lambda n_stages: lambda stage: n_stages - stage - 1),
        summary="you let each stage hold one micro-batch too few",
        message=(
            "{summary}, so the last stage can't hold any and never starts. Stages are counted from 0. What is n_stages "
            "− stage for the last stage?"
        ),
        hints=[
            "How many micro-batches should the last stage hold, and what is your limit for it?",
        ],
    ),
    Mistake(
        "limit_the_wrong_way_round",
        STEPS.but(room=last_room_first),
        STEPS.but(room=last_room_first, ticks=ticks_until_done()),
        summary="you let the first stage hold one micro-batch and the last stage the most",
        message=(
            "{summary}. The first stage waits longest for a micro-batch to come back, so with a limit of 1 it is idle "
            "most of the time. Which stage needs the highest limit?"
        ),
        hints=[
            "With 2 stages, how many micro-batches can the first stage start before its first backward pass?",
        ],
    ),
    Mistake(
        "seen_in_the_same_tick",
        STEPS.but(ticks=counts_at_once(1)),
        STEPS.but(ticks=ticks_until_done(1)),
        summary="you let a stage use the results of earlier stages in the *same* tick",
        message="{summary}. All stages work at the same time, so a result is available only in the next tick.",
        hints=["In the first tick, is there a micro-batch that the second stage can work on?"],
    ),
    Mistake(
        "seen_in_the_same_tick_from_behind",
        STEPS.but(ticks=counts_at_once(-1)),
        STEPS.but(ticks=ticks_until_done(-1)),
        summary="you let a stage use the results of later stages in the *same* tick",
        message="{summary}. All stages work at the same time, so a result is available only in the next tick.",
        hints=["While the last stage runs its first backward pass, can the stage before it run the same one?"],
    ),
    Mistake(
        "no_backward_passes",
        STEPS.but(may_backward=never, room=no_limit),
        summary="you schedule no backward passes",
        message=(
            "{summary}: no number in your schedule is negative. When does a stage have what it needs for a backward "
            "pass?"
        ),
        hints=[
            "After the last stage's first forward pass, which pass can it run next?",
            "The last stage can run a backward pass after its own forward pass. Any other stage must wait for the "
            "next stage's backward pass.",
            "In each tick, prefer a backward pass to a forward pass. After b backward passes, the number of the next "
            "one is −(b + 1).",
        ],
    ),
    Mistake(
        "nothing_comes_back",
        STEPS.but(returned=own_forward),
        STEPS.but(returned=own_forward, ticks=ticks_until_done()),
        summary="you run a stage's backward pass without waiting for the next stage",
        message=(
            "{summary}. A stage needs the gradient that the next stage sends back. Which pass must the next stage "
            "finish first?"
        ),
        hints=["Where does the first stage get the gradient of its outputs from?"],
    ),
    Mistake(
        "ends_with_the_last_stage",
        STEPS.but(n_ticks=lambda n_stages, n_microbatches: n_stages + 2 * n_microbatches - 1),
        summary="you end the schedule when the *last* stage has run all of its backward passes",
        message="{summary}, so the earlier stages never run their last backward passes. Which stage finishes last?",
        hints=[
            "With 2 stages and one micro-batch, how many passes run one after the other?",
        ],
    ),
    Mistake(
        "forward_in_every_tick",
        STEPS.but(schedule=at_fixed_ticks(in_turn=True)),
        STEPS.but(schedule=at_fixed_ticks(in_turn=False)),
        summary="you run a stage's forward passes in consecutive ticks, where they collide with its backward passes",
        message=(
            "{summary}. Once a stage holds n_stages − stage micro-batches, its next pass must be a backward pass."
        ),
        hints=["With one stage and two micro-batches, what should happen in the second tick?"],
    ),
    Mistake(
        "micro_batches_that_are_not_there",
        STEPS.but(arrived=warm_up_not_limited),
        STEPS.but(arrived=lambda: lambda stage, forwards: forwards[stage - 1] if stage > 0 else 10**9),
        summary="you run forward passes of micro-batches that don't exist",
        message="{summary}. How many micro-batches can the first stage start in total?",
        hints=["With 2 stages and one micro-batch, what should the first stage do in the second tick?"],
    ),
    Mistake(
        "numbers_from_zero",
        STEPS.but(schedule=lambda schedule: from_zero(schedule)),
        summary="you number the micro-batches from 0",
        message=(
            "{summary}, so 0 can mean a forward pass, a backward pass or nothing. Which number should the first "
            "micro-batch have?"
        ),
        hints=["Which number do you write for the first micro-batch, and which for a stage that waits?"],
    ),
    Mistake(
        "backward_without_minus",
        STEPS.but(schedule=lambda schedule: schedule.abs()),
        summary="you write the backward passes without a minus sign",
        message="{summary}, so they look like forward passes. Which sign marks a backward pass?",
        hints=[
            "With one stage and one micro-batch, which two numbers should the schedule contain?",
        ],
    ),
]


EXERCISE = Exercise(
    reference=pipeline_schedule,
    steps=STEPS,
    cases=pipeline_schedule_cases,
    points=4,
    verified="Every pass waits for its inputs, no stage holds more micro-batches than its limit, and the pipeline "
    "finishes as early as possible.",
    hints=[
        "With 2 stages and 3 micro-batches, what can each stage do in the first three ticks?",
        "Count the forward and backward passes of each stage so far. A forward pass needs a micro-batch that the stage "
        "before has finished; the first stage has all of them from the start. A backward pass needs one from the stage "
        "after; the last stage needs its own forward pass.",
        "A stage holds f − b micro-batches after f forward and b backward passes. It may start another if it holds "
        "fewer than n_stages − stage.",
        "All stages decide at the same time: choose for all of them with the counts from *before* the tick, then "
        "update the counts. The schedule has 2 · (n_stages + n_microbatches − 1) ticks.",
    ],
    messages={
        "comparison_may_forward: (held) <= (room(stage))": Wording(
            "{summary}: with 4 stages, the first stage may hold 5 instead of 4. How many may it hold *before* it "
            "starts another micro-batch?",
            summary="you let each stage hold one micro-batch too many",
        ),
        "not_transposed_schedule": Wording(
            "{summary}, so rows and columns are swapped. Which dimension of the output counts the stages?",
            summary="you return one row per tick instead of one row per stage",
        ),
        "part_left_out_room": Wording(
            "{summary}. The last stage can run each backward pass right after the forward pass. How many "
            "micro-batches does it need to hold?",
            summary="you let every stage hold up to n_stages micro-batches at a time",
        ),
        "part_left_out_may_forward: -(backwards[stage])": Wording(
            "{summary}. With 4 stages, the first stage starts 7 micro-batches before its first backward pass instead "
            "of 4. How many may a stage hold at a time?",
            summary="you let a stage start as many micro-batches as it can get",
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
