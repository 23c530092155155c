"""Running time of an attempt compared with the reference, on a machine that may be busy."""

import time

from transformer_lab.course.checking.speed import MAX_REPEATED_SECONDS, MAX_SLOWDOWN, slowdown
from transformer_lab.course.running.case import Case

CASE = Case({"x": 1.0}, "a number")


def resting(seconds, calls):
    def rest(x):
        calls.append(x)
        time.sleep(seconds)
        return x

    return rest


def test_it_tells_how_many_times_as_long_an_attempt_takes():
    mine, others = [], []
    times = slowdown(resting(0.04, mine), resting(0.004, others), CASE, best=0.5, limit=10.0)
    assert 2 < times < 11
    assert len(mine) > 1 and len(others) > 1


def test_one_hiccup_of_the_machine_is_forgiven():
    calls = []
    assert slowdown(resting(0.004, calls), resting(0.004, []), CASE, best=0.9, limit=10.0) < MAX_SLOWDOWN
    assert calls


def test_what_is_fast_enough_or_took_long_already_is_not_run_again():
    calls = []
    assert (
        slowdown(resting(0.1, calls), resting(0.001, []), CASE, best=2 * MAX_REPEATED_SECONDS, limit=10.0)
        > MAX_SLOWDOWN
    )
    assert calls == []
    assert slowdown(resting(0.1, calls), resting(0.05, []), CASE, best=0.05, limit=10.0) < MAX_SLOWDOWN
    assert len(calls) <= 2  # one turn: a case is called twice
