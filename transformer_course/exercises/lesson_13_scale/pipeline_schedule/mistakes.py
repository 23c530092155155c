"""What goes wrong in the schedule of a pipeline."""

import torch

from transformer_course.exercise import Mistake
from transformer_course.exercises.lesson_13_scale.pipeline_schedule.answer import STEPS


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
        "rows_are_ticks",
        STEPS.but(schedule=lambda ticks: torch.tensor(ticks)),
        does="the result has a row for each tick, not for each stage",
        says="{does}: rows and columns have changed places.",
    ),
    Mistake(
        "all_forward_first",
        STEPS.but(room=no_limit, choice=all_forward_first),
        does="all forward passes are run before the first backward pass",
        says="{does}. That is GPipe: it takes as long, but each stage keeps the activations of *all* micro-batches.",
    ),
    Mistake(
        "no_limit",
        STEPS.but(room=no_limit),
        does="a stage begins as many micro-batches as it can get",
        says="{does}: the first stage does so in every tick until the first backward pass, and its memory fills up.",
    ),
    Mistake(
        "one_too_many",
        STEPS.but(room=lambda n_stages: lambda stage: n_stages - stage + 1),
        does="each stage may hold one micro-batch too many",
    ),
    Mistake(
        "one_too_few",
        STEPS.but(room=lambda n_stages: lambda stage: n_stages - stage - 1),
        does="each stage may hold one micro-batch too few, and the last one none",
        says="{does}. Stages are counted from 0, so the last one may hold n_stages − (n_stages − 1).",
    ),
    Mistake(
        "limit_the_wrong_way_round",
        STEPS.but(room=last_room_first),
        STEPS.but(room=last_room_first, ticks=ticks_until_done()),
        does="the first stage may hold one micro-batch, and the last one the most",
        says="{does}. It is the first stage that waits longest for a micro-batch to come back.",
    ),
    Mistake(
        "seen_in_the_same_tick",
        STEPS.but(ticks=counts_at_once(1)),
        STEPS.but(ticks=ticks_until_done(1)),
        does="a stage sees what the stages before it have done in the *same* tick",
        says="{does}. They work at the same time, so what one of them computes is there in the next tick.",
        hints=["In the first tick, on which micro-batch can the second stage work?"],
    ),
    Mistake(
        "seen_in_the_same_tick_from_behind",
        STEPS.but(ticks=counts_at_once(-1)),
        STEPS.but(ticks=ticks_until_done(-1)),
        does="a stage sees what the stages after it have done in the *same* tick",
        says="{does}. They work at the same time, so what one of them computes is there in the next tick.",
    ),
    Mistake(
        "no_backward_passes",
        STEPS.but(may_backward=never, room=no_limit),
        does="there are no backward passes",
        says="{does}: no number in the schedule is negative. Every stage has to run one of each micro-batch.",
    ),
    Mistake(
        "nothing_comes_back",
        STEPS.but(returned=own_forward),
        STEPS.but(returned=own_forward, ticks=ticks_until_done()),
        does="a stage runs a backward pass right after its forward pass",
        says="{does}. Its gradient comes from the stage after, which must have run its own backward pass first.",
        hints=["From where does the first stage get the gradient of its outputs?"],
    ),
    Mistake(
        "ends_with_the_last_stage",
        STEPS.but(n_ticks=lambda n_stages, n_microbatches: n_stages + 2 * n_microbatches - 1),
        does="the schedule ends when the *last* stage has run all of its backward passes",
        says="{does}. Their gradients still have to go back through the stages before it.",
    ),
    Mistake(
        "forward_in_every_tick",
        STEPS.but(schedule=at_fixed_ticks(in_turn=True)),
        STEPS.but(schedule=at_fixed_ticks(in_turn=False)),
        does="a stage's forward passes follow each other in every tick, and meet its backward passes",
        says="{does}. Once it holds n_stages − stage micro-batches, a forward pass comes after a backward pass only.",
        hints=["With one stage and two micro-batches, what is done in the second tick?"],
    ),
    Mistake(
        "micro_batches_that_are_not_there",
        STEPS.but(arrived=warm_up_not_limited),
        STEPS.but(arrived=lambda: lambda stage, forwards: forwards[stage - 1] if stage > 0 else 10**9),
        does="with fewer micro-batches than a stage may hold, it runs forward passes of some that do not exist",
        hints=["With 2 stages and one micro-batch, what does the first stage do in the second tick?"],
    ),
    Mistake(
        "numbers_from_zero",
        STEPS.but(schedule=lambda schedule: from_zero(schedule)),
        does="the micro-batches are numbered from 0",
        says="{does}. Then 0 is a forward pass, a backward pass and nothing: count from 1.",
        hints=["What is written for the first micro-batch, and what for a stage that waits?"],
    ),
    Mistake(
        "backward_without_minus",
        STEPS.but(schedule=lambda schedule: schedule.abs()),
        does="the backward passes are written without a minus",
        says="{does}, so nobody can tell them from forward passes.",
    ),
]
