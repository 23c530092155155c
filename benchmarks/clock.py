"""Time contestants in turns, so that a busy machine affects all alike."""

import gc
import time
from collections.abc import Callable, Hashable, Mapping
from statistics import median
from typing import TypeVar

import torch

MIN_TURN_S = 0.01
Name = TypeVar("Name", bound=Hashable)
Run = Callable[[], object]


def clock() -> Callable[[], float]:
    """Return the clock: processor time for one thread, which other programs cannot lengthen, and wall-clock time for
    more.
    """
    return time.process_time if torch.get_num_threads() == 1 else time.perf_counter


def seconds(run: Run, calls: int = 1) -> float:
    """Return the time of a call, averaged over several."""
    now = clock()
    started = now()
    for _ in range(calls):
        run()
    return (now() - started) / calls


def take_turns(runs: Mapping[Name, Run], rounds: int) -> list[dict[Name, float]]:
    """Return the seconds of each contestant in each round (A B C, A B C, …), after a warm-up turn of each."""
    for run in runs.values():
        run()
    calls = {name: max(1, round(MIN_TURN_S / max(seconds(run), 1e-6))) for name, run in runs.items()}
    gc.collect()
    return [{name: seconds(run, calls[name]) for name, run in runs.items()} for _ in range(rounds)]


def median_ratio(times: list[dict[Name, float]], one: Name, other: Name) -> float:
    """Return the median over rounds of one contestant's time divided by another's in the same round."""
    return median(turn[one] / turn[other] for turn in times)
