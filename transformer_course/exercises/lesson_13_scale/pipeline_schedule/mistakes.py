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


def counts_at_once(order):
    """Make the ticks in which a stage sees what the stages before it in this order have done in the same tick."""

    def ticks(choice, n_ticks, n_stages):
        forwards, backwards, ticks = [0] * n_stages, [0] * n_stages, []
        for _ in range(n_ticks):
            ticks.append([0] * n_stages)
            for stage in range(n_stages)[::order]:
                work = ticks[-1][stage] = choice(stage, forwards, backwards)
                forwards[stage] += work > 0
                backwards[stage] += work < 0
        return ticks

    return ticks


def from_zero(schedule):
    return torch.where(schedule > 0, schedule - 1, torch.where(schedule < 0, schedule + 1, schedule))


def no_limit():
    return lambda stage: 10**9


def last_room_first():
    return lambda stage: stage + 1


MISTAKES = [
    Mistake(
        "all_forward_first",
        STEPS.but(room=no_limit, choice=all_forward_first),
        does="all forward passes are run before the first backward pass",
        says="{does}. That is GPipe: it takes as long, but each stage keeps the activations of *all* micro-batches.",
        hints=["How many micro-batches does the first stage hold before its first backward pass?"],
    ),
    Mistake(
        "no_limit",
        STEPS.but(room=no_limit),
        does="a stage begins as many micro-batches as it can get",
        says="{does}: the first stage does so in every tick until the first backward pass, and its memory fills up.",
        hints=["Take 3 stages and 9 micro-batches. How many does the first stage hold before its first backward pass?"],
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
        does="the first stage may hold one micro-batch, and the last one the most",
        says="{does}. It is the first stage that waits longest for a micro-batch to come back.",
        hints=["Which stage waits longest between the two passes of a micro-batch?"],
    ),
    Mistake(
        "seen_in_the_same_tick",
        STEPS.but(ticks=counts_at_once(1)),
        STEPS.but(ticks=counts_at_once(-1)),
        does="a stage sees what its neighbours have done in the *same* tick",
        says="{does}. They work at the same time, so what one of them computes is there in the next tick.",
        hints=["In the first tick, on which micro-batch can the second stage work?"],
    ),
    Mistake(
        "micro_batches_that_are_not_there",
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
]
