"""The kernel tells what a child has computed, and for how long it could have."""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from tests.transformer_course.sandbox.sample_submissions import linux
from transformer_course.sandbox.linux.process_times import (
    cpu_seconds,
    delay_seconds,
    seconds_of_ended_children,
    seconds_of_family,
)

pytestmark = linux


@contextmanager
def child(act: Callable[[], object]) -> Iterator[int]:
    """Fork a child that calls a function again and again on one processor, and kill it after the block."""
    process = os.fork()
    if process == 0:
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
        while True:
            act()
    try:
        yield process
    finally:
        os.kill(process, 9)
        os.waitpid(process, 0)


def test_processes_sharing_a_cpu_wait_for_each_other():
    if not os.path.exists("/proc/self/schedstat"):
        pytest.skip("this kernel does not tell")
    with child(lambda: None) as one, child(lambda: None) as other, child(lambda: time.sleep(99)) as sleeper:
        before = time.monotonic()
        while min(cpu_seconds(one), cpu_seconds(other)) < 0.05:
            assert time.monotonic() < before + 60
            time.sleep(0.01)
        assert min(delay_seconds(one), delay_seconds(other)) > 0.03  # each, while the other had its 0.05
        sleeping = cpu_seconds(sleeper) + delay_seconds(sleeper)
        assert sleeping < (cpu_seconds(one) + delay_seconds(one)) / 2


def test_missing_process_has_no_times():
    with child(lambda: None) as ended:
        pass
    assert cpu_seconds(ended) == delay_seconds(ended) == 0.0


def test_ended_childrens_time_is_counted():
    before = seconds_of_ended_children()
    with child(lambda: None) as one:
        while cpu_seconds(one) < 0.05:
            time.sleep(0.01)
        computed = cpu_seconds(one)
    assert seconds_of_ended_children() - before >= computed - 0.01


def test_running_familys_time_is_counted():
    before = seconds_of_family()
    with child(lambda: os.waitpid(os.fork() or _computes_and_ends(), 0)) as one:
        while seconds_of_family() - before < 0.3:
            time.sleep(0.01)
        assert cpu_seconds(one) < 0.2  # most of it was that of its children


def _computes_and_ends() -> int:
    while time.process_time() < 0.1:
        pass
    os._exit(0)
