"""Code that does not come back is stopped, code that does is left alone, and nothing is stopped afterwards."""

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
def test_an_endless_loop_is_stopped(endless):
    with pytest.raises(TookTooLong), time_limit(0.05):
        endless()


def test_of_computing_only_what_is_computed_counts():
    with time_limit(0.1, clock=60):
        time.sleep(0.3)
    with pytest.raises(TookTooLong), time_limit(0.1, clock=60):
        spin()


def test_what_computes_nothing_is_stopped_by_the_clock():
    with pytest.raises(TookTooLong), time_limit(60, clock=0.05):
        while True:
            time.sleep(0.001)


def test_code_that_is_idle_too_long_is_stopped():
    with pytest.raises(TookTooLong), time_limit(60, clock=60, max_idle=0.5):
        while True:
            time.sleep(0.1)


def test_code_that_gets_a_twentieth_of_a_processor_is_not_idle():
    with time_limit(60, clock=60, max_idle=0.2):
        begun = time.monotonic()
        while time.monotonic() < begun + 0.8:
            now = time.process_time()
            while time.process_time() < now + 0.008:
                pass
            time.sleep(0.15)


def test_threads_side_by_side_count_once():
    others = [threading.Thread(target=spin, args=(time.monotonic() + 0.2,)) for _ in range(3)]
    watch = Stopwatch()
    for other in others:
        other.start()
    for other in others:
        other.join()
    assert 0 < watch.computing <= watch.clock


def test_it_is_stopped_in_any_thread():
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


def test_code_that_catches_it_once_is_stopped_the_next_time():
    caught = []
    with pytest.raises(TookTooLong), time_limit(0.05):
        try:
            spin()
        except TookTooLong as error:
            caught.append(error)
        spin()
    assert len(caught) == 1


def test_code_that_comes_back_is_left_alone_then_and_later():
    for _ in range(5):
        with time_limit(1):
            spin(until=time.monotonic() + 0.01)
    spin(until=time.monotonic() + 1.2)


def test_a_limit_that_falls_on_the_very_end_of_the_block_never_strikes_behind_it():
    for _ in range(50):
        now = time.monotonic()
        try:
            with time_limit(0.01):
                spin(until=now + 0.01)
        except TookTooLong:
            continue
    spin(until=time.monotonic() + 0.5)
    assert [thread.name for thread in threading.enumerate() if "(watch)" in thread.name] == []


def test_an_error_inside_comes_through():
    with pytest.raises(ZeroDivisionError), time_limit(1):
        _ = 1 / 0


def test_of_two_limits_the_outer_one_counts():
    started = time.monotonic()
    with time_limit(60):
        with time_limit(0.01):
            spin(until=time.monotonic() + 0.3)
        spin(until=time.monotonic() + 0.3)
    assert time.monotonic() > started + 0.6
    with pytest.raises(TookTooLong), time_limit(0.05), time_limit(60):
        spin()
    with pytest.raises(TookTooLong), time_limit(0.05):  # and a later one counts again
        spin()


def test_an_ordinary_except_does_not_catch_it():
    assert not issubclass(TookTooLong, Exception)


def test_code_runs_all_the_same_where_no_thread_can_be_started(monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    ran = []
    with time_limit(9):
        ran.append(True)
    assert ran
