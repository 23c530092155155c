"""Tests for measuring the total memory of a job's processes."""

import functools
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.transformer_course.sandbox.sample_submissions import grade_answer, linux, softmax_after
from transformer_course.sandbox.linux.family_watch import CHECK_INTERVAL_S, MemoryWatch, deleted_bytes, family
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox

pytestmark = linux
FORKS = """
reading, writing = os.pipe()
for _ in range(6):
    if os.fork() == 0:
        x = bytearray({mb} << 20)
        os.write(writing, b'x')
        time.sleep(60)
for _ in range(6): os.read(reading, 1)
time.sleep(1.0)
"""


def in_own_process(test: Callable[[], None]) -> Callable[[], None]:
    """Run a test in a forked process, whose only children are the processes that the test starts."""

    @functools.wraps(test)
    def forked() -> None:
        reading, writing = os.pipe()
        if (child := os.fork()) == 0:
            try:
                test()
            except BaseException:
                os.write(writing, traceback.format_exc().encode())
            os._exit(0)
        os.close(writing)
        with open(reading, encoding="utf-8") as report:
            failure = report.read()
        os.waitpid(child, 0)
        assert not failure, failure

    return forked


@pytest.mark.parametrize(("mb", "points"), [(100, 0), (10, 2)])
def test_adds_up_memory_of_several_processes(sandbox: Sandbox, mb: int, points: int):
    """The total exceeds the limit of 256 MB, although each process stays below it."""
    graded = grade_answer(sandbox, softmax_after("if os.path.exists('done'): return s.softmax(-1)\nopen('done', 'w')"
                                              + FORKS.format(mb=mb)))  # fmt: skip
    assert graded.points == points, graded.verdict.message
    assert points or "more than 256 MB of memory together" in graded.verdict.message


@in_own_process
def test_forked_copy_adds_no_memory():
    held = bytearray(os.urandom(1 << 20)) * 64
    watch = MemoryWatch(Limits(memory_mb=100), is_needed=True)
    children = [os.spawnlp(os.P_NOWAIT, "sleep", "sleep", "20") for _ in range(2)]
    for _ in range(3):
        if (child := os.fork()) == 0:
            time.sleep(20)
            os._exit(0)
        children.append(child)
    assert {*map(str, children)} <= {*family()} and len(held) and not watch.is_exceeded()
    for child in children:
        os.kill(child, 9)
        os.waitpid(child, 0)


@in_own_process
def test_started_program_counts_in_full():
    """A started program shares no memory with the watching process, so no memory is subtracted."""
    held = bytearray(os.urandom(1 << 20)) * 64
    watch = MemoryWatch(Limits(memory_mb=100), is_needed=True)
    code = "x = bytearray(60 << 20); print(flush=True); input()"
    programs = [
        subprocess.Popen([sys.executable, "-S", "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    for program in programs:
        assert program.stdout is not None and program.stdout.readline()
    exceeded = watch.is_exceeded()
    programs.pop().communicate()
    time.sleep(CHECK_INTERVAL_S)
    assert (len(held), exceeded, watch.is_exceeded()) == (64 << 20, True, False)
    programs.pop().communicate()


@in_own_process
def test_memory_shared_by_forks_counts_once():
    read, write = os.pipe()
    watch = MemoryWatch(Limits(memory_mb=400), is_needed=True)
    parent = os.fork()
    if parent == 0:
        held = bytearray(os.urandom(1 << 20)) * 200
        for _ in range(4):
            if os.fork() == 0:
                break
        os.write(write, held[:1])
        time.sleep(20)
        os._exit(0)
    for _ in range(5):
        os.read(read, 1)
    exceeded, processes = watch.is_exceeded(), [*family()]
    for process in processes:
        os.kill(int(process), signal.SIGKILL)
    os.waitpid(parent, 0)
    assert len(processes) >= 5 and not exceeded


def test_counts_deleted_files_that_are_still_open(tmp_path: Path):
    code = f"f = open({str(tmp_path / 'x')!r}, 'wb'); f.write(bytes(3 << 20)); f.flush(); import os; "
    code += f"os.unlink({str(tmp_path / 'x')!r}); print(flush=True); input()"
    (reading, child_output), (child_input, writing) = os.pipe(), os.pipe()
    files = [(os.POSIX_SPAWN_DUP2, child_input, 0), (os.POSIX_SPAWN_DUP2, child_output, 1)]
    child = os.posix_spawn(sys.executable, ["python", "-c", code], dict(os.environ), file_actions=files)
    os.read(reading, 1)
    assert deleted_bytes() >= 3 << 20
    os.kill(child, 9)
    os.waitpid(child, 0)
    for pipe in (reading, child_output, child_input, writing):
        os.close(pipe)
