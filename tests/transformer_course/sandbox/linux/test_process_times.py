"""Tests for measuring the CPU time and the waiting time of child processes."""

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
    """Fork a child process that calls a function repeatedly on one processor, and kill it on exit."""
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
        pytest.skip("this kernel does not report waiting times")
    with child(lambda: None) as first, child(lambda: None) as second, child(lambda: time.sleep(99)) as sleeper:
        before = time.monotonic()
        while min(cpu_seconds(first), cpu_seconds(second)) < 0.05:
            assert time.monotonic() < before + 60
            time.sleep(0.01)
        # Each process waited while the other process computed for 0.05 s.
        assert min(delay_seconds(first), delay_seconds(second)) > 0.03
        sleeping = cpu_seconds(sleeper) + delay_seconds(sleeper)
        assert sleeping < (cpu_seconds(first) + delay_seconds(first)) / 2


def test_missing_process_has_no_times():
    with child(lambda: None) as ended:
        pass
    assert cpu_seconds(ended) == delay_seconds(ended) == 0.0


def test_counts_cpu_time_of_ended_children():
    before = seconds_of_ended_children()
    with child(lambda: None) as process:
        while cpu_seconds(process) < 0.05:
            time.sleep(0.01)
        computed = cpu_seconds(process)
    assert seconds_of_ended_children() - before >= computed - 0.01


def test_counts_cpu_time_of_running_descendants():
    before = seconds_of_family()
    with child(lambda: os.waitpid(os.fork() or _compute_and_exit(), 0)) as process:
        while seconds_of_family() - before < 0.3:
            time.sleep(0.01)
        assert cpu_seconds(process) < 0.2  # its child processes used most of the CPU time


def _compute_and_exit() -> int:
    while time.process_time() < 0.1:
        pass
    os._exit(0)
