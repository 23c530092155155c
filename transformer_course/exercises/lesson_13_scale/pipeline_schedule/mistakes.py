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
            tick = [0] * n_stages
            for stage in range(n_stages)[::order]:
                tick[stage] = choice(stage, forwards, backwards)
                forwards[stage] += tick[stage] > 0
                backwards[stage] += tick[stage] < 0
            ticks.append(tick)
        return ticks

    return ticks


def from_zero(schedule):
    return torch.where(schedule > 0, schedule - 1, torch.where(schedule < 0, schedule + 1, schedule))


def no_limit():
    return lambda stage: 10**9


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
        "same_limit_for_all",
        STEPS.but(room=lambda n_stages: lambda stage: n_stages),
        does="every stage may hold as many micro-batches as there are stages",
        says="{does}. The last one gets its micro-batch back at once, and needs to hold one alone.",
        hints=["How many ticks after its forward pass can the last stage run the backward pass? And the first stage?"],
    ),
    Mistake(
        "one_too_many",
        STEPS.but(room=lambda n_stages: lambda stage: n_stages - stage + 1),
        does="each stage may hold one micro-batch too many",
    ),
    Mistake(
        "limit_the_wrong_way_round",
        STEPS.but(room=lambda: lambda stage: stage + 1),
        does="the first stage may hold one micro-batch, and the last one the most",
        says="{does}. It is the first stage that waits longest for a micro-batch to come back.",
        hints=["Which stage waits longest between the two passes of a micro-batch?"],
    ),
    Mistake(
        "seen_in_the_same_tick",
        STEPS.but(ticks=counts_at_once(1)),
        does="a stage sees what the stages before it have done in the *same* tick",
        says="{does}. They work at the same time, so what one of them computes is there in the next tick.",
        hints=["In the first tick, on which micro-batch can the second stage work?"],
    ),
    Mistake(
        "seen_in_the_same_tick_from_behind",
        STEPS.but(ticks=counts_at_once(-1)),
        does="a stage sees what the stages after it have done in the *same* tick",
        says="{does}. They work at the same time, so what one of them computes is there in the next tick.",
        hints=["The last stage runs a backward pass in a tick. When can the stage before it run its own?"],
    ),
    Mistake(
        "nothing_comes_back",
        STEPS.but(returned=lambda: lambda stage, forwards, backwards: forwards[stage]),
        does="a stage runs a backward pass right after its forward pass",
        says="{does}. Its gradient comes from the stage after, which must have run its own backward pass first.",
        hints=["From where does the first stage get the gradient of its outputs?"],
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
        hints=["How does the schedule tell the two passes of a micro-batch apart?"],
    ),
    Mistake(
        "a_row_for_each_tick",
        STEPS.but(schedule=lambda ticks: torch.tensor(ticks)),
        does="the result has a row for each tick, not for each stage",
    ),
]
