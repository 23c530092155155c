import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from unittest import mock

import pytest

from tests.transformer_course.exercises.alternatives import lesson_10
from tests.transformer_course.sandbox.sample_submissions import grade_answer, linux
from transformer_course.checking.expected_behavior import behavior
from transformer_course.checking.verdict import Status, Verdict
from transformer_course.exercise import LOW_MEMORY_LIMIT_MB
from transformer_course.exercises import every_exercise
from transformer_course.grading.judging.judge_answer import count_right, judge_outcome
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Outcome, Sandbox

SOFTMAX = every_exercise()["softmax"]


def verdict(answer: Any, reason: str = "exit 0") -> Verdict:
    return judge_outcome(SOFTMAX, Outcome(answer, reason, 0.1), 7, Limits())


def test_observations_from_the_reference_pass():
    assert verdict({"observations": behavior(SOFTMAX, 7).expected}).passed


def test_observations_for_different_seed_fail():
    assert verdict({"observations": behavior(SOFTMAX, 8).expected}).status == "wrong"


def test_recognizes_mistake_by_its_observations():
    mistake, observed = next(behavior(SOFTMAX, 7).mistakes)
    assert verdict({"observations": observed}).mistake == mistake.name


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({}, "crashed"),
        ({"observations": 3}, "crashed"),
        ({"observations": []}, "crashed"),
        ({"observations": [3]}, "crashed"),
        ({"observations": [{"error": 3}]}, "crashed"),
        ({"observations": [{"error": {"type": "NotImplementedError"}}]}, "not_started"),
        ({"observations": [{"output": {"a": [1]}}] * 8}, "wrong"),
        ({"observations": [{"error": {"type": "X", "message": "<script>" * 10**6}}]}, "crashed"),
        ({"crash": None}, "crashed"),
        ({"crash": {"type": ["x"] * 10**6, "message": {}}}, "crashed"),
        ({"missing": True}, "not_started"),
        (None, "crashed"),
    ],
)
def test_forged_observations_do_not_pass(answer: Any, status: str):
    assert verdict(answer).status == status


def test_counts_passed_cases():
    expected = list(behavior(SOFTMAX, 7).expected)
    n = len(expected)

    def counted(answer: Any, status: Status = "wrong") -> tuple[int, int]:
        return count_right(SOFTMAX, Verdict("softmax", status, ""), Outcome(answer, "", 0.1), 7)

    assert counted({"observations": expected}) == (n, n)
    broken = [*expected[:-1], {**expected[-1], "output": None}]
    assert counted({"observations": broken}) == (n - 1, n)
    assert counted({"observations": broken}, "passed") == (n, n)
    for answer in (None, {}, {"observations": 3}, {"observations": [3]}, {"crash": {}}):
        assert counted(answer) == (0, n)


BLOCKWISE = [*lesson_10.UNUSUAL["blockwise_attention"].values()]
UNTRACKED = """
from torch.utils._python_dispatch import _disable_current_modes
def attend(queries, keys, values):
    scores = (queries @ keys.mT).div_(queries.shape[-1] ** 0.5)
    exponentials = scores.sub_(scores.amax(-1, keepdim=True)).exp_()
    return exponentials @ values / exponentials.sum(-1, keepdim=True)
def blockwise_attention(queries, keys, values, block):
    with _disable_current_modes():
        at_once = -(-queries.shape[-2] // 4)
        return torch.cat([attend(some, keys, values) for some in queries.split(at_once, -2)], -2)
"""
"""Code that attends to all keys at once for a quarter of the queries, in place and hidden from the tensor tracking."""


@linux
def test_computing_all_scores_exceeds_memory_limit(sandbox: Sandbox):
    solution = every_exercise()["blockwise_attention"].solution
    at_once = grade_answer(sandbox, UNTRACKED, "blockwise_attention")
    assert (at_once.points, at_once.verdict.status) == (0, "wrong")
    assert "65,536 keys" in at_once.verdict.message and "more than 32 MB" in at_once.verdict.message
    small_only = (
        f"{solution.replace('blockwise_attention', 'right')}\ndef blockwise_attention(queries, keys, values, block):"
    )
    small_only += "\n    return right(queries[:, :], keys[..., :999, :], values[..., :999, :], block)"
    graded = grade_answer(sandbox, small_only, "blockwise_attention")
    assert (graded.points, graded.n_right) == (0, graded.n_cases - 1)


@linux
@pytest.mark.parametrize("answer", BLOCKWISE, ids=lambda answer: answer.__name__)
def test_block_results_stay_within_the_memory_limit(sandbox: Sandbox, answer: Callable[..., Any]):
    """Small results between large freed tensors leave holes in memory, which must not count as used memory."""
    source = inspect.getsource(answer).replace(answer.__name__, "blockwise_attention")
    graded = grade_answer(sandbox, source, "blockwise_attention")
    assert graded.points == 4, graded.verdict.message


@pytest.fixture(scope="module")
def right_outcomes(sandbox: Sandbox) -> dict[int, Outcome]:
    """The solution's outcomes, keyed by memory limit."""
    outcomes = {}

    def run(self: Sandbox, *job: Any) -> Outcome:
        outcomes[self.limits.memory_mb] = run_job(self, *job)
        return outcomes[self.limits.memory_mb]

    run_job = Sandbox.run
    with mock.patch.object(Sandbox, "run", run):
        right = grade_answer(sandbox, every_exercise()["blockwise_attention"].solution, "blockwise_attention")
    assert right.verdict.passed and right.n_right == right.n_cases
    return outcomes


@linux
@pytest.mark.parametrize("reason", ["SIGKILL", "SIGTERM", "supervisor"])
@pytest.mark.parametrize("n_times", [1, 2])
def test_reruns_right_answer_killed_for_memory(
    sandbox: Sandbox, right_outcomes: dict[int, Outcome], reason: str, n_times: int
):
    limits = []

    def run(self: Sandbox, *job: Any) -> Outcome:
        limits.append(self.limits.memory_mb)
        is_ended = self.limits.memory_mb == LOW_MEMORY_LIMIT_MB and limits.count(LOW_MEMORY_LIMIT_MB) <= n_times
        outcome = right_outcomes[self.limits.memory_mb]
        return replace(outcome, answer=None, reason=reason) if is_ended else outcome

    with mock.patch.object(Sandbox, "run", run):
        graded = grade_answer(sandbox, every_exercise()["blockwise_attention"].solution, "blockwise_attention")
    assert limits == [sandbox.limits.memory_mb, LOW_MEMORY_LIMIT_MB, LOW_MEMORY_LIMIT_MB]
    assert (graded.points, graded.verdict.status) == ((4, "passed") if n_times == 1 else (0, "crashed"))
    assert bool(graded.ended_by_others) == (n_times == 2)
