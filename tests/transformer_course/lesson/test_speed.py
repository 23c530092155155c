"""Tests for comparing CPU times on a machine that may be busy."""

import time

from transformer_course.lesson import speed
from transformer_course.lesson.speed import MAX_SLOWDOWN, MAX_TIMINGS, SLOWDOWN_MARGIN, is_slow, slowdown
from transformer_course.running.case import Case
from transformer_course.running.observe import observe_all

CASE = Case({"x": 1.0}, "a number")
CALLS = 2


def compute(seconds):
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


def computing(seconds, calls):
    def attempt(x):
        calls.append(x)
        compute(seconds)
        return x

    return attempt


def test_slowdown_is_the_ratio_to_the_reference():
    mine, others = [], []
    times = slowdown(computing(0.04, mine), computing(0.004, others), CASE, best=0.5, limit=10.0)
    assert 2 < times < 11
    assert len(mine) > 1 and len(others) > 1


def test_ignores_a_single_slow_timing():
    for seconds in (0.9, 9.0):
        calls = []
        assert slowdown(computing(0.004, calls), computing(0.004, []), CASE, best=seconds, limit=10.0) < MAX_SLOWDOWN
        assert calls


def test_ignores_slow_timing_in_the_second_run():
    hiccups = iter([0.2, 0.2])

    def sometimes_slow(x):
        compute(next(hiccups, 0.004))
        return x

    assert slowdown(sometimes_slow, computing(0.004, []), CASE, best=0.9, limit=10.0) < MAX_SLOWDOWN


def test_waiting_for_other_processes_is_not_slowness():
    def waiting(x):
        time.sleep(0.1)
        return x

    [observed] = observe_all(waiting, [CASE], 10.0)
    assert observed["remarks"]["seconds"] < 0.05
    assert slowdown(waiting, computing(0.02, []), CASE, best=observed["remarks"]["seconds"], limit=10.0) < MAX_SLOWDOWN


def test_no_attempt_is_slow_below_clock_resolution(monkeypatch):
    monkeypatch.setattr(speed, "CLOCK_TICK_S", 1 / 64)
    assert slowdown(computing(1 / 64, []), lambda x: x, CASE, best=1 / 64, limit=10.0) < MAX_SLOWDOWN


def test_attempt_is_slow_only_with_a_margin():
    assert not is_slow(MAX_SLOWDOWN) and not is_slow(1.01 * MAX_SLOWDOWN)
    assert not is_slow(SLOWDOWN_MARGIN * MAX_SLOWDOWN) and is_slow(1.01 * SLOWDOWN_MARGIN * MAX_SLOWDOWN)


def test_measures_slow_attempt_again(monkeypatch):
    monkeypatch.setattr(speed, "MAX_TIMING_S", 0.2)
    calls = []
    assert is_slow(slowdown(computing(0.12, calls), computing(0.001, []), CASE, best=0.4, limit=10.0))
    assert len(calls) == CALLS


def test_measures_clearly_fast_or_slow_attempt_twice():
    calls = []
    assert slowdown(computing(0.05, calls), computing(0.05, []), CASE, best=0.05, limit=10.0) < MAX_SLOWDOWN
    assert len(calls) == 2 * CALLS
    calls = []
    assert is_slow(slowdown(computing(0.1, calls), lambda x: x, CASE, best=0.1, limit=10.0))
    assert len(calls) == 2 * CALLS
    calls = []
    slowdown(computing(0.05, calls), computing(0.003, []), CASE, best=0.05, limit=10.0)
    assert 2 * CALLS < len(calls) <= MAX_TIMINGS * CALLS
