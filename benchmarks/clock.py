"""Time contestants in turns so that a busy machine affects all of them alike."""

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
    """Return the clock to use.

    With one thread, the clock measures CPU time, because other programs barely affect it. With several threads, it
    measures wall-clock time.
    """
    return time.process_time if torch.get_num_threads() == 1 else time.perf_counter


def seconds(run: Run, calls: int = 1) -> float:
    """Return the average time of a call in seconds."""
    now = clock()
    started = now()
    for _ in range(calls):
        run()
    return (now() - started) / calls


def take_turns(runs: Mapping[Name, Run], rounds: int) -> list[dict[Name, float]]:
    """Return each contestant's seconds per call in each round (A B C, A B C, …), after one warm-up call each."""
    for run in runs.values():
        run()
    calls = {name: max(1, round(MIN_TURN_S / max(seconds(run), 1e-6))) for name, run in runs.items()}
    gc.collect()
    return [{name: seconds(run, calls[name]) for name, run in runs.items()} for _ in range(rounds)]


def median_ratio(times: list[dict[Name, float]], first: Name, second: Name) -> float:
    """Return the median over rounds of the first contestant's time divided by the second contestant's."""
    return median(turn[first] / turn[second] for turn in times)
