"""Tests that the time limit stops code that runs too long, and no other code."""

import subprocess
import sys
import threading
import time

import pytest

from transformer_course.running.time_limit import Stopwatch, TookTooLong, time_limit


def spin(until=float("inf")):
    while time.monotonic() < until:
        pass


def spin_and_catch():
    while True:
        try:
            sum(range(1000))
        except Exception:
            continue


@pytest.mark.parametrize("endless", [spin, spin_and_catch])
def test_stops_infinite_loop(endless):
    with pytest.raises(TookTooLong), time_limit(0.05):
        endless()


def test_cpu_limit_counts_only_cpu_time():
    with time_limit(0.1, clock=60):
        time.sleep(0.3)
    with pytest.raises(TookTooLong), time_limit(0.1, clock=60):
        spin()


def test_wall_clock_stops_code_without_cpu_time():
    with pytest.raises(TookTooLong), time_limit(60, clock=0.05):
        while True:
            time.sleep(0.001)


def test_stops_code_that_is_idle_too_long():
    with pytest.raises(TookTooLong), time_limit(60, clock=60, max_idle=0.5):
        while True:
            time.sleep(0.1)


def test_code_with_little_cpu_time_is_not_idle():
    with time_limit(60, clock=60, max_idle=0.2):
        start = time.monotonic()
        while time.monotonic() < start + 0.8:
            now = time.process_time()
            while time.process_time() < now + 0.008:
                pass
            time.sleep(0.15)


def test_parallel_threads_count_once():
    threads = [threading.Thread(target=spin, args=(time.monotonic() + 0.2,)) for _ in range(3)]
    watch = Stopwatch()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert 0 < watch.computing <= watch.clock


def test_stops_code_in_any_thread():
    observed = []

    def run():
        try:
            with time_limit(0.05):
                spin()
        except TookTooLong:
            observed.append("stopped")

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert observed == ["stopped"]


def test_stops_code_that_catches_exception_once():
    caught = []
    with pytest.raises(TookTooLong), time_limit(0.05):
        try:
            spin()
        except TookTooLong as error:
            caught.append(error)
        spin()
    assert len(caught) == 1


def test_does_not_stop_code_that_returns():
    for _ in range(5):
        with time_limit(1):
            spin(until=time.monotonic() + 0.01)
    spin(until=time.monotonic() + 1.2)


def test_limit_at_end_of_block_never_raises_later():
    for _ in range(50):
        now = time.monotonic()
        try:
            with time_limit(0.01):
                spin(until=now + 0.01)
        except TookTooLong:
            continue
    spin(until=time.monotonic() + 0.5)
    assert [thread.name for thread in threading.enumerate() if "(watch)" in thread.name] == []


def test_propagates_errors():
    with pytest.raises(ZeroDivisionError), time_limit(1):
        _ = 1 / 0


def test_outermost_limit_applies():
    started = time.monotonic()
    with time_limit(60):
        with time_limit(0.01):
            spin(until=time.monotonic() + 0.3)
        spin(until=time.monotonic() + 0.3)
    assert time.monotonic() > started + 0.6
    with pytest.raises(TookTooLong), time_limit(0.05), time_limit(60):
        spin()
    with pytest.raises(TookTooLong), time_limit(0.05):  # a later block has its own time limit
        spin()


def test_timeout_is_not_an_exception_subclass():
    assert not issubclass(TookTooLong, Exception)


def test_runs_code_without_available_threads(monkeypatch):
    def fail(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", fail)
    calls = []
    with time_limit(9):
        calls.append(1)
    assert calls == [1]


def test_profiler_works_after_timeout():
    lines = [
        "import contextlib, sys",
        "from transformer_course.running.time_limit import TookTooLong, time_limit",
        "with contextlib.suppress(TookTooLong), time_limit(0.05):",
        "    while True:",
        "        pass",
        "calls = []",
        "sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_name))",
        "(lambda: None)()",
        "sys.setprofile(None)",
        "print(calls[0])",
    ]
    ran = subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=120)
    assert ran.stdout == "<lambda>\n", ran.stderr
