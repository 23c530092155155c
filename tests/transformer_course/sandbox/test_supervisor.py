import os
import re
import time

import pytest

from tests.transformer_course.sandbox.sample_submissions import (
    STOPPED,
    grade_answer,
    left_running,
    linux,
    short_time_limit,
    softmax_after,
    still_works,
)
from transformer_course.sandbox import supervisor
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox

pytestmark = linux

WRITE_SLOWLY = """
while True:
    try: os.write(3, b'x'); time.sleep(0.05)
    except BaseException: pass
"""


@pytest.mark.parametrize(
    "body",
    [
        "if os.fork() == 0:\n  if os.fork() == 0:\n    while True: time.sleep(1)\n  os._exit(0)",
        "subprocess.Popen(['sleep', '1234'])",
        "for _ in range(5): os.fork()\nif os.fork(): time.sleep(999)",
    ],
)
def test_leaves_no_process_running(sandbox: Sandbox, body: str):
    assert sandbox.process is not None
    with short_time_limit(sandbox):
        grade_answer(sandbox, softmax_after(body))
    deadline = time.monotonic() + 10
    while left_running(sandbox.process.pid) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert left_running(sandbox.process.pid) == []


@pytest.mark.parametrize("victim", ["os.getppid()", "-1"])
def test_killing_other_processes_affects_only_the_answer(sandbox: Sandbox, victim: str):
    if not (sandbox.guards["own_user"] or sandbox.guards["landlock"] >= 6):
        pytest.skip("without a separate user or Landlock's restriction of signals, this would kill the tests")
    grade_answer(sandbox, softmax_after(f"try: os.kill({victim}, signal.SIGKILL)\nexcept OSError: pass"))
    assert still_works(sandbox)


def test_job_folder_is_writable_and_deleted_afterwards(sandbox: Sandbox):
    body = """
if not os.path.exists('a'):
    os.makedirs('a/b')
    with open('a/b/c', 'w') as file: file.write('x')
    assert open('a/b/c').read() == 'x' and os.environ['HOME'] == os.getcwd()
    os.mkdir('b', 0)
"""
    assert sandbox.folder is not None
    before = set(os.listdir(sandbox.folder / "work"))
    verdict = grade_answer(sandbox, softmax_after(body)).verdict
    assert verdict.passed, verdict.message
    assert set(os.listdir(sandbox.folder / "work")) <= before


def test_ignores_output_from_forked_children(sandbox: Sandbox):
    body = """
if os.fork() == 0:
    while os.getppid() != 1: os.write(3, bytes(1 << 10))
os._exit(0)
"""
    with short_time_limit(sandbox):
        assert grade_answer(sandbox, softmax_after(body)).points == 0
    assert still_works(sandbox)


def test_stops_slow_answer(sandbox: Sandbox):
    with short_time_limit(sandbox):
        graded = grade_answer(sandbox, softmax_after(WRITE_SLOWLY))
    assert re.search(STOPPED, graded.verdict.message)
    assert graded.seconds < 60


@pytest.mark.parametrize(
    ("clock", "delay", "message"),
    [
        (10.9, 0.0, ""),
        (11.1, 0.0, "time"),  # a sleeping process has no scheduling delay, so the usual limit applies
        (13.9, 3.0, ""),
        (14.1, 3.0, "time"),
        (60.9, 99.0, ""),
        (61.1, 99.0, "busy"),
    ],
)
def test_time_used_by_other_programs_does_not_count(
    monkeypatch: pytest.MonkeyPatch, clock: float, delay: float, message: str
):
    monkeypatch.setattr(supervisor, "delay_seconds", lambda _: delay)
    monkeypatch.setattr(supervisor, "seconds_of_family", lambda: 0.1)
    assert supervisor._timeout_reason(1, clock, Limits(seconds=10.0)) == message


def test_waiting_for_own_processes_counts_toward_timeout(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(supervisor, "delay_seconds", lambda process: 9.0)
    for computed, message in ((2.0, ""), (18.0, "time")):
        monkeypatch.setattr(supervisor, "seconds_of_family", lambda computed=computed: computed)
        assert supervisor._timeout_reason(1, 15.0, Limits(seconds=10.0)) == message


@pytest.mark.parametrize(
    ("clock", "delay", "computed", "waited"),
    [
        (10.0, 4.0, 6.0, 4.0),  # one process shares its processor with one other program
        (10.0, 9.0, 20.0, 0.0),  # the answer's own processes used both processors
        (10.0, 9.0, 7.0, 3.0),  # the answer waited for its own processes and for other programs
        (30.0, 29.0, 0.1, 25.0),  # the maximum, because processes that were never waited for are not counted
    ],
)
def test_only_time_used_by_others_counts_as_waiting(clock: float, delay: float, computed: float, waited: float):
    assert supervisor._waited_for_others(clock, delay, computed) == pytest.approx(waited)
