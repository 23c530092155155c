import contextlib
import json
import os
from typing import Any
from unittest import mock

import pytest

from tests.transformer_course.sandbox.sample_submissions import FakeSandbox, busy_processes, grade_answer, linux
from transformer_course.exercises import every_exercise
from transformer_course.grading.judging.run_answer import library_of, library_source, parts_named
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Outcome, Sandbox


@pytest.mark.parametrize("name", every_exercise())
def test_sandbox_receives_part_location(name: str):
    exercise = every_exercise()[name]
    location = library_source(exercise)
    assert location in ({"module": exercise.reference.__module__}, {"source": exercise.solution})
    assert not location.get("module", "").startswith("transformer_course")


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = parts.pairs_from_halves", ["pairs_from_halves"]),
        ("parts.induction_score(1)", ["induction_score"]),
        ("parts.leaks_future(1)", ["leaks_future"]),
        ("parts.GPT(10)", ["GPT"]),
        ("no parts", []),
    ],
)
def test_sandbox_receives_only_parts_named_in_notebook(text: str, found: list[str]):
    parts = json.loads(library_of("softmax", parts_named(text)))
    assert set(found) <= parts.keys() and len(parts) <= 5
    for location in parts.values():  # parts that the sources of these parts use must be included
        assert parts_named(location.get("source", "")) <= parts.keys() | {"softmax"}


def test_sandbox_receives_all_parts_for_computed_names():
    every = every_exercise().keys() - {"softmax"}
    assert json.loads(library_of("softmax", parts_named("getattr(parts, 'so' + 'ft')"))).keys() == every


COMPUTES = """
def softmax(s):
    import time
    while time.process_time() < {seconds}: pass
    return s.softmax(-1)
"""


@linux
def test_right_answer_keeps_points_on_busy_machine():
    """Ten other processes share the CPU. The answer computes for less than its limit but waits much longer."""
    if not os.path.exists("/proc/self/schedstat"):
        pytest.skip("this kernel does not report waiting times")
    outcomes = []

    def run(self: Sandbox, *job: Any) -> Outcome:
        outcomes.append(run_job(self, *job))
        return outcomes[-1]

    run_job = Sandbox.run
    with (
        Sandbox(Limits(seconds=0.5)) as sandbox,
        mock.patch.object(Sandbox, "run", run),
        contextlib.ExitStack() as others,
    ):
        assert sandbox.process is not None
        os.sched_setaffinity(sandbox.process.pid, {others.enter_context(busy_processes(10))})
        graded = grade_answer(sandbox, COMPUTES.format(seconds=0.25))
    [outcome] = outcomes
    assert graded.points == 2, graded.verdict.message
    assert outcome.seconds > 1.5 and outcome.cost < 0.7 * outcome.seconds and graded.cost < graded.seconds


def test_runs_an_endless_loop_only_once():
    """Run the loop only once, whether it exceeds its CPU time or the machine is too busy."""
    runs = []
    error = {"type": "TookTooLong", "message": "no answer within 10 s for all cases together"}

    def run(*_: Any) -> Outcome:
        runs.append(1)
        return Outcome({"records": [{"error": error}], "calls": []}, "exit 0", 29.0, 19.0)

    sandbox = FakeSandbox({})
    with mock.patch.object(sandbox, "run", run):
        assert grade_answer(sandbox, "x").verdict.status == "crashed"
        assert len(runs) == 1
        error["computed"] = 3.0  # the wall-clock limit was exceeded
        assert grade_answer(sandbox, "x").ended_by_others and len(runs) == 2


@pytest.mark.parametrize("reason", ["SIGKILL", "SIGTERM", "SIGSEGV", "SIGHUP", "signal 62", "supervisor"])
def test_reruns_answer_after_any_signal(reason: str):
    outcomes = [Outcome(None, reason, 2.0), Outcome({"missing": True}, "exit 0", 1.0)]
    limits = []

    def run(*_: Any) -> Outcome:
        limits.append(sandbox.limits.seconds)
        return outcomes[len(limits) - 1]

    sandbox = FakeSandbox({})
    with mock.patch.object(sandbox, "run", run):
        graded = grade_answer(sandbox, "x")
    assert graded.verdict.status == "not_started" and graded.seconds == 3.0
    assert limits == [10.0, 8.0]  # the second run may use the remaining time


@pytest.mark.parametrize(("reason", "seconds"), [("SIGKILL", 5.1), ("SIGXCPU", 1.0), ("SIGSYS", 0.1), ("exit 1", 0.1)])
def test_self_terminating_answer_runs_once(reason: str, seconds: float):
    runs = []

    def run(*_: Any) -> Outcome:
        runs.append(1)
        return Outcome(None, reason, seconds)

    sandbox = FakeSandbox({})
    with mock.patch.object(sandbox, "run", run):
        assert grade_answer(sandbox, "x").verdict.status == "crashed"
    assert len(runs) == 1


def test_waiting_for_other_processes_costs_no_points():
    sandbox = FakeSandbox({"missing": True})
    with mock.patch.object(sandbox, "run", lambda *_: Outcome({"missing": True}, "exit 0", 9.0, 8.5)):
        graded = grade_answer(sandbox, "x")
    assert graded.seconds == 9.0 and 0.5 <= graded.cost < 5.0
