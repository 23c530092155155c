import contextlib
import os
from typing import Any
from unittest import mock

import pytest

from tests.transformer_course.sandbox.sample_submissions import FakeSandbox, busy_others, grade_answer, linux
from transformer_course.exercises import every_exercise
from transformer_course.grading.judging.run_answer import library_source
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Outcome, Sandbox


@pytest.mark.parametrize("name", every_exercise())
def test_the_sandbox_is_told_where_to_find_a_piece(name: str):
    exercise = every_exercise()[name]
    message = library_source(exercise)
    assert message in ({"module": exercise.reference.__module__}, {"source": exercise.solution})
    assert not message.get("module", "").startswith("transformer_course")


COMPUTES = """
def softmax(s):
    import time
    while time.process_time() < {seconds}: pass
    return s.softmax(-1)
"""


@linux
def test_on_a_machine_that_is_too_busy_a_right_answer_keeps_its_points():
    """Ten others share its processor. It computes for less than it may, and waits for longer than the clock permits."""
    if not os.path.exists("/proc/self/schedstat"):
        pytest.skip("this kernel does not tell")
    outcomes, others = [], contextlib.ExitStack()

    def run(self: Sandbox, job: dict[str, Any], *packed: bytes) -> Outcome:
        outcomes.append(run_job(self, job if outcomes else {**job, "clock": 1.5}, *packed))
        others.close()
        return outcomes[-1]

    run_job = Sandbox.run
    with Sandbox(Limits(seconds=0.5)) as sandbox, mock.patch.object(Sandbox, "run", run), others:
        assert sandbox.process is not None
        os.sched_setaffinity(sandbox.process.pid, {others.enter_context(busy_others(10))})
        graded = grade_answer(sandbox, COMPUTES.format(seconds=0.25))
    first, again = outcomes
    assert graded.points == 2, graded.verdict.message
    assert first.reason == "busy" or "TookTooLong" in str(first.answer)
    assert first.seconds > 1.5 and first.cost < 0.7 * first.seconds
    assert graded.cost < graded.seconds and again.answer is not None


def test_what_has_computed_for_as_long_as_it_may_is_not_run_again():
    runs = []
    error = {"type": "TookTooLong", "message": "no answer within 10 s for all cases together"}

    def run(*_: Any) -> Outcome:
        runs.append(1)
        return Outcome({"records": [{"error": error}], "calls": []}, "exit 0", 29.0, 19.0)

    sandbox = FakeSandbox({})
    with mock.patch.object(sandbox, "run", run):
        assert grade_answer(sandbox, "x").verdict.status == "crashed"
        assert len(runs) == 1
        error["computed"] = 3.0  # it was the clock's limit
        assert grade_answer(sandbox, "x").ended_by_others and len(runs) == 3


def test_what_an_answer_waits_for_others_costs_it_nothing():
    sandbox = FakeSandbox({"missing": True})
    with mock.patch.object(sandbox, "run", lambda *_: Outcome({"missing": True}, "exit 0", 9.0, 8.5)):
        graded = grade_answer(sandbox, "x")
    assert graded.seconds == 9.0 and 0.5 <= graded.cost < 5.0
