"""Which micro-batch each stage of a pipeline works on, and when: one forward pass, one backward pass (1F1B)."""

import torch
from jaxtyping import Int
from torch import Tensor

from transformer_course.exercise import Exercise, Mistake, Wording
from transformer_course.exercises.shared.draw_cases import generator
from transformer_course.running.case import Case
from transformer_course.steps import InSteps


def pipeline_schedule(n_stages: int, n_microbatches: int) -> Int[Tensor, "n_stages n_ticks"]:
    """Return what each stage does in each tick: m or −m, a pass of micro-batch m forward or backward; 0, nothing."""
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
    """limit the micro-batches that a stage holds → how many micro-batches a stage may hold: n_stages − stage"""
    return lambda stage: n_stages - stage


def arrived(n_microbatches):
    """ask how many micro-batches have come from the stage before → how many micro-batches have come to a stage: those
    that the stage before has passed on; to the first, all
    """
    return lambda stage, forwards: forwards[stage - 1] if stage > 0 else n_microbatches


def returned(n_stages):
    """ask how many micro-batches have come back from the stage after → how many micro-batches have come back to a
    stage: those of the stage after; on the last one, its own
    """
    return lambda stage, forwards, backwards: backwards[stage + 1] if stage < n_stages - 1 else forwards[stage]


def may_backward(returned):
    """see whether a backward pass can be run → whether a stage can run a backward pass"""
    return lambda stage, forwards, backwards: backwards[stage] < returned(stage, forwards, backwards)


def may_forward(arrived, room):
    """check for input and room → whether a stage can run a forward pass: there is a micro-batch, and room"""

    def may(stage, forwards, backwards):
        held = forwards[stage] - backwards[stage]
        return forwards[stage] < arrived(stage, forwards) and held < room(stage)

    return may


def choice(may_backward, may_forward):
    """choose: a backward pass before a forward pass → what a stage does in a tick: a backward pass if it can, or a
    forward pass if it can, or nothing
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
    """let all stages choose, tick after tick → what all stages do in each tick, (n_ticks, n_stages)"""
    forwards, backwards, ticks = [0] * n_stages, [0] * n_stages, []
    for _ in range(n_ticks):
        ticks.append([choice(stage, forwards, backwards) for stage in range(n_stages)])
        for stage, work in enumerate(ticks[-1]):
            forwards[stage] += work > 0
            backwards[stage] += work < 0
    return ticks


def schedule(ticks):
    """give each stage a row → the schedule, a row for each stage, (n_stages, n_ticks)"""
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
        case(4, 2, "4 stages, 2 micro-batches: fewer than stages"),
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
    """Make the ticks until all backward passes are done, as a loop does that does not count the ticks beforehand.

    A stage decides by what was done before the tick or, with an order of 1 or −1, also by what the stages before or
    after it have done in the same tick.
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
    """Make the ticks in which a stage sees what the stages before it in this order have done in the same tick."""

    def ticks(choice, n_ticks, n_stages, n_microbatches):
        done = ticks_until_done(order)(choice, n_stages, n_microbatches)
        return done + [[0] * n_stages] * (n_ticks - len(done))

    return ticks


def at_fixed_ticks(in_turn):
    """Make the schedule in which the forward passes follow each other in every tick, whatever a stage holds.

    Both passes of a micro-batch are written in turn, or else all forward passes first: what comes later stays.
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
    """Let each stage begin as many micro-batches as it may hold, though there are fewer."""

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
        summary="all forward passes are run before the first backward pass",
        message=(
            "{summary}. That is GPipe: it takes as long, but each stage keeps the activations of *all* micro-batches."
        ),
    ),
    Mistake(
        "one_too_few",
        STEPS.but(room=lambda n_stages: lambda stage: n_stages - stage - 1),
        summary="each stage may hold one micro-batch too few, and the last one none",
        message="{summary}. Stages are counted from 0, so the last one may hold n_stages − (n_stages − 1).",
    ),
    Mistake(
        "limit_the_wrong_way_round",
        STEPS.but(room=last_room_first),
        STEPS.but(room=last_room_first, ticks=ticks_until_done()),
        summary="the first stage may hold one micro-batch, and the last one the most",
        message="{summary}. It is the first stage that waits longest for a micro-batch to come back.",
    ),
    Mistake(
        "seen_in_the_same_tick",
        STEPS.but(ticks=counts_at_once(1)),
        STEPS.but(ticks=ticks_until_done(1)),
        summary="a stage sees what the stages before it have done in the *same* tick",
        message="{summary}. They work at the same time, so what one of them computes is there in the next tick.",
        hints=["In the first tick, on which micro-batch can the second stage work?"],
    ),
    Mistake(
        "seen_in_the_same_tick_from_behind",
        STEPS.but(ticks=counts_at_once(-1)),
        STEPS.but(ticks=ticks_until_done(-1)),
        summary="a stage sees what the stages after it have done in the *same* tick",
        message="{summary}. They work at the same time, so what one of them computes is there in the next tick.",
    ),
    Mistake(
        "no_backward_passes",
        STEPS.but(may_backward=never, room=no_limit),
        summary="there are no backward passes",
        message="{summary}: no number in the schedule is negative. Every stage has to run one of each micro-batch.",
    ),
    Mistake(
        "nothing_comes_back",
        STEPS.but(returned=own_forward),
        STEPS.but(returned=own_forward, ticks=ticks_until_done()),
        summary="a stage runs a backward pass right after its forward pass",
        message="{summary}. Its gradient comes from the stage after, which must have run its own backward pass first.",
        hints=["From where does the first stage get the gradient of its outputs?"],
    ),
    Mistake(
        "ends_with_the_last_stage",
        STEPS.but(n_ticks=lambda n_stages, n_microbatches: n_stages + 2 * n_microbatches - 1),
        summary="the schedule ends when the *last* stage has run all of its backward passes",
        message="{summary}. Their gradients still have to go back through the stages before it.",
    ),
    Mistake(
        "forward_in_every_tick",
        STEPS.but(schedule=at_fixed_ticks(in_turn=True)),
        STEPS.but(schedule=at_fixed_ticks(in_turn=False)),
        summary="a stage's forward passes follow each other in every tick, and meet its backward passes",
        message=(
            "{summary}. Once it holds n_stages − stage micro-batches, a forward pass comes after a backward pass only."
        ),
        hints=["With one stage and two micro-batches, what is done in the second tick?"],
    ),
    Mistake(
        "micro_batches_that_are_not_there",
        STEPS.but(arrived=warm_up_not_limited),
        STEPS.but(arrived=lambda: lambda stage, forwards: forwards[stage - 1] if stage > 0 else 10**9),
        summary="with fewer micro-batches than a stage may hold, it runs forward passes of some that do not exist",
        hints=["With 2 stages and one micro-batch, what does the first stage do in the second tick?"],
    ),
    Mistake(
        "numbers_from_zero",
        STEPS.but(schedule=lambda schedule: from_zero(schedule)),
        summary="the micro-batches are numbered from 0",
        message="{summary}. Then 0 is a forward pass, a backward pass and nothing: count from 1.",
        hints=["What is written for the first micro-batch, and what for a stage that waits?"],
    ),
    Mistake(
        "backward_without_minus",
        STEPS.but(schedule=lambda schedule: schedule.abs()),
        summary="the backward passes are written without a minus",
        message="{summary}, so nobody can tell them from forward passes.",
    ),
]


EXERCISE = Exercise(
    reference=pipeline_schedule,
    steps=STEPS,
    cases=pipeline_schedule_cases,
    points=4,
    verified="Every pass waits for what it needs, no stage holds more micro-batches than it may, and the pipeline is "
    "done as early as it can be.",
    hints=[
        "Count for each stage its forward and its backward passes so far. Together with those of its neighbors, they "
        "say what it can do next.",
        "A forward pass needs one that the stage before has done and this stage has not; the first stage has all "
        "micro-batches from the start. A backward pass needs one of the stage after; the last stage, a forward pass "
        "of its own.",
        "A stage holds as many micro-batches as it has done forward passes more than backward passes. It may begin "
        "another if it holds fewer than n_stages − stage.",
        "All stages decide at once: choose for all of them with the counts from *before* the tick, and only then "
        "count. The schedule has 2 · (n_stages + n_microbatches − 1) ticks.",
    ],
    messages={
        "comparison_may_forward: (held) <= (room(stage))": Wording(
            summary="each stage may hold one micro-batch too many"
        ),
        "not_transposed_schedule": Wording(
            "{summary}: rows and columns have changed places.",
            summary="the result has a row for each tick, not for each stage",
        ),
        "part_left_out_room": (
            "Every stage may hold as many micro-batches as there are stages. The last one gets its micro-batch back at "
            "once, and needs to hold one alone."
        ),
        "part_left_out_may_forward: -(backwards[stage])": Wording(
            "{summary}: the first stage does so in every tick until the first backward pass, and its memory fills up.",
            summary="a stage begins as many micro-batches as it can get",
        ),
    },
    mistakes=MISTAKES,
    stretch=True,
)
