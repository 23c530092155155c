"""The answer to ``pipeline_schedule``, plainly and in steps."""

import torch
from jaxtyping import Int
from torch import Tensor

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
    """limit the micro-batches that a stage holds

    how many micro-batches a stage may hold: n_stages − stage
    """
    return lambda stage: n_stages - stage


def arrived(n_microbatches):
    """ask how many micro-batches have come from the stage before

    how many micro-batches have come to a stage: those that the stage before has passed on; to the first, all
    """
    return lambda stage, forwards: forwards[stage - 1] if stage > 0 else n_microbatches


def returned(n_stages):
    """ask how many micro-batches have come back from the stage after

    how many micro-batches have come back to a stage: those of the stage after; on the last one, its own
    """
    return lambda stage, forwards, backwards: backwards[stage + 1] if stage < n_stages - 1 else forwards[stage]


def may_backward(returned):
    """see whether a backward pass can be run

    whether a stage can run a backward pass
    """
    return lambda stage, forwards, backwards: backwards[stage] < returned(stage, forwards, backwards)


def may_forward(arrived, room):
    """see whether a forward pass can be run, and there is room

    whether a stage can run a forward pass: there is a micro-batch, and room for it
    """

    def may(stage, forwards, backwards):
        held = forwards[stage] - backwards[stage]
        return forwards[stage] < arrived(stage, forwards) and held < room(stage)

    return may


def choice(may_backward, may_forward):
    """choose: a backward pass before a forward pass

    what a stage does in a tick: a backward pass if it can, or a forward pass if it can, or nothing
    """

    def chosen(stage, forwards, backwards):
        if may_backward(stage, forwards, backwards):
            return -(backwards[stage] + 1)
        return forwards[stage] + 1 if may_forward(stage, forwards, backwards) else 0

    return chosen


def n_ticks(n_stages, n_microbatches):
    """count the ticks

    the number of ticks: 2 · (n_stages + n_microbatches − 1)
    """
    return 2 * (n_stages + n_microbatches - 1)


def ticks(choice, n_ticks, n_stages):
    """let all stages choose by what was done before the tick, one tick after another

    what all stages do in each tick, (n_ticks, n_stages)
    """
    forwards, backwards, ticks = [0] * n_stages, [0] * n_stages, []
    for _ in range(n_ticks):
        ticks.append([choice(stage, forwards, backwards) for stage in range(n_stages)])
        for stage, work in enumerate(ticks[-1]):
            forwards[stage] += work > 0
            backwards[stage] += work < 0
    return ticks


def schedule(ticks):
    """give each stage a row

    the schedule, a row for each stage, (n_stages, n_ticks)
    """
    return torch.tensor(ticks).T


STEPS = InSteps(
    room, arrived, returned, may_backward, may_forward, choice, n_ticks, ticks, schedule, reference=pipeline_schedule
)
