import contextlib
import inspect
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from tests.transformer_course.exercises.alternatives import lesson_10
from tests.transformer_course.jail.sample_submissions import busy_others, cells, grade_answer, linux
from transformer_course.checking.expected_behaviour import behaviour
from transformer_course.checking.verdict import Status, Verdict
from transformer_course.exercise import LITTLE_MEMORY_MB, Exercise
from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.grading.assess import (
    Allowance,
    GradedExercise,
    GradedSubmission,
    assess,
    assess_exercise,
    count_right,
    judge_outcome,
    library_source,
    with_remarks,
)
from transformer_course.grading.submissions import Submission
from transformer_course.jail.jail import Jail, Outcome
from transformer_course.jail.resource_limits import Limits
from transformer_course.running.plain_data import unpack

SOFTMAX = every_exercise()["softmax"]


def verdict(answer: Any, reason: str = "exit 0") -> Verdict:
    return judge_outcome(SOFTMAX, Outcome(answer, reason, 0.1), 7, Limits())


def test_observations_that_are_those_of_the_reference_pass():
    assert verdict({"observations": behaviour(SOFTMAX, 7).expected}).passed


def test_observations_on_the_cases_of_another_seed_do_not():
    assert verdict({"observations": behaviour(SOFTMAX, 8).expected}).status == "wrong"


def test_observations_of_a_mistake_name_it():
    mistake, observed = next(behaviour(SOFTMAX, 7).mistakes)
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
def test_made_up_answers_break_nothing(answer: Any, status: str):
    assert verdict(answer).status == status


def test_no_answer_is_told_by_how_the_process_ended():
    assert "ended by SIGSEGV" in verdict(None, "SIGSEGV").message


class FakeJail(Jail):
    """Records the jobs it gets, and returns the answer it was made with."""

    def __init__(self, answer: Any) -> None:
        super().__init__(Limits())
        self.answer = answer
        self.jobs: list[dict[str, Any]] = []

    def run(self, job: dict[str, Any], packed: bytes = b"", models: bytes = b"") -> Outcome:
        self.jobs.append({**job, **unpack(packed)})
        return Outcome(self.answer, "exit 0", 0.25)


def graded_in(jail: Jail, submission: Submission, seed: int) -> GradedSubmission:
    return assess(
        submission, Allowance(jail.limits), lambda one, exercise, _: assess_exercise(one, exercise, jail, seed)
    )


SUBMISSION = Submission("ada", Path("01_lookup.ipynb"), "01_lookup", [{"id": "x", "source": "y"}])


def test_the_jail_gets_the_cases_and_neither_seed_nor_what_is_asked_for():
    jail = FakeJail({"missing": True})
    notebook = graded_in(jail, SUBMISSION, 987_123_654)
    assert [job["name"] for job in jail.jobs] == [one.exercise.name for one in notebook.exercises]
    for job in jail.jobs:
        assert job.keys() == {"name", "asked", "cells", "cases", "seconds", "clock", "library"}
        assert job["name"] not in job["library"] and len(job["library"]) == len(every_exercise()) - 1
        assert "987123654" not in str(job)


def test_what_a_learner_wrote_comes_back_short_and_printable():
    jail = FakeJail({"crash": {"type": "E", "message": "\ud800" * 10**5}})
    for one in graded_in(jail, SUBMISSION, 7).exercises:
        assert len(one.verdict.message) < 5000 and one.verdict.message.encode()
        assert (one.points, one.seconds) == (0, 0.25)


def test_what_cannot_be_read_is_not_run():
    jail = FakeJail({})
    assert graded_in(jail, Submission("ada", Path("x"), "01_lookup", problem="It is damaged."), 7).exercises == []
    assert jail.jobs == []


def test_points_and_bonus_are_added_up_apart():
    exercises = every_exercise()
    done: dict[str, Status] = {"softmax": "passed", "distance_attention": "passed", "similarity": "wrong"}
    graded = [GradedExercise(exercises[name], Verdict(name, status, ""), 0.1) for name, status in done.items()]
    notebook = GradedSubmission(SUBMISSION, graded)
    assert exercises["distance_attention"].stretch and not exercises["softmax"].stretch
    assert (notebook.points, notebook.bonus) == (exercises["softmax"].points, exercises["distance_attention"].points)


@pytest.mark.parametrize("name", every_exercise())
def test_the_jail_is_told_where_to_find_a_piece(name: str):
    exercise = every_exercise()[name]
    told = library_source(exercise)
    assert told in ({"module": exercise.reference.__module__}, {"source": exercise.solution})
    assert not told.get("module", "").startswith("transformer_course")


def graded_by_text(submission: Submission, exercise: Exercise, _: Limits) -> GradedExercise:
    """Grade as if each answer were run: neither it nor what it uses may be wrong."""
    above = [cell["source"] for cell in submission.cells]
    defining = next(i for i, source in enumerate(above) if source.startswith(f"def {exercise.name}("))
    text = above[defining]
    used = [source for source in above[:defining] if source.startswith("def softmax(") and "softmax(" in text[5:]]
    is_right = "wrong" not in text and not (used and "wrong" in used[-1])
    return GradedExercise(exercise, Verdict(exercise.name, "passed" if is_right else "wrong", "As is."), 0.1)


@pytest.mark.parametrize(
    ("rest", "status"), [("return softmax(query)", "passed"), ("return softmax('wrong')", "wrong")]
)
def test_a_mistake_in_an_earlier_answer_costs_once(rest: str, status: str):
    answers = {
        **{exercise.name: f"def {exercise.name}(x): pass" for exercise in exercises_of("01_lookup")},
        "softmax": "def softmax(x):\n    return 'wrong'",
        "soft_lookup": f"def soft_lookup(query):\n    {rest}",
    }
    submission = Submission("ada", Path("x"), "01_lookup", cells(answers))
    graded = {
        one.exercise.name: one.verdict for one in assess(submission, Allowance(Limits()), graded_by_text).exercises
    }
    assert graded.pop("softmax").status == "wrong" and graded["soft_lookup"].status == status
    says = "right with the course's `softmax` in place of yours" in graded.pop("soft_lookup").message
    assert says == (status == "passed") and {verdict.message for verdict in graded.values()} == {"As is."}


def test_an_answer_on_a_wrong_one_passes_in_the_jail(jail: Jail):
    """The reference replaces the learner's function also where that is in the cell before, or used by another."""
    own = "def soft_lookup(query, keys, values):\n    return softmax(keys @ query) @ values"
    answers = {
        "softmax": "def softmax(scores):\n    return scores.softmax(-1) / 2",
        "soft_lookup": own,
        "attention_weights": "def attention_weights(queries, keys):\n    return softmax(queries @ keys.mT)",
        "attention": "def attention(queries, keys, values):\n    return attention_weights(queries, keys) @ values",
    }
    submission = Submission("ada", Path("x"), "01_lookup", cells(answers))
    lesson = exercises_of("01_lookup")

    def assess_one(one: Submission, exercise: Exercise, _: Limits) -> GradedExercise:
        if exercise.name not in answers:
            return GradedExercise(exercise, Verdict(exercise.name, "not_started", ""), 0.0)
        return assess_exercise(one, exercise, jail, 7)

    graded = {one.exercise.name: one for one in assess(submission, Allowance(jail.limits), assess_one).exercises}
    assert len(graded) == len(lesson)
    assert [graded[name].verdict.passed for name in answers] == [False, True, True, True]
    assert graded["soft_lookup"].n_right == graded["soft_lookup"].n_cases > 0
    assert graded["softmax"].n_right < graded["softmax"].n_cases


def test_right_cases_are_counted():
    expected = list(behaviour(SOFTMAX, 7).expected)
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
UNWATCHED = """
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
"""All keys at once for a quarter of the queries, out of sight of what watches the tensors, and with none to spare."""


@linux
def test_many_scores_at_once_need_more_memory_than_there_is(jail: Jail):
    solution = every_exercise()["blockwise_attention"].solution
    at_once = grade_answer(jail, UNWATCHED, "blockwise_attention")
    assert (at_once.points, at_once.verdict.status) == (0, "wrong")
    assert "65,536 keys" in at_once.verdict.message and "more than 32 MB" in at_once.verdict.message
    small_only = (
        f"{solution.replace('blockwise_attention', 'right')}\ndef blockwise_attention(queries, keys, values, block):"
    )
    small_only += "\n    return right(queries[:, :], keys[..., :999, :], values[..., :999, :], block)"
    graded = grade_answer(jail, small_only, "blockwise_attention")
    assert (graded.points, graded.n_right) == (0, graded.n_cases - 1)


@linux
@pytest.mark.parametrize("answer", BLOCKWISE, ids=lambda answer: answer.__name__)
def test_who_keeps_a_result_of_each_block_takes_little_memory_as_well(jail: Jail, answer: Callable[..., Any]):
    """Small results that stay between large ones that go leave holes: those are not held."""
    source = inspect.getsource(answer).replace(answer.__name__, "blockwise_attention")
    graded = grade_answer(jail, source, "blockwise_attention")
    assert graded.points == 4, graded.verdict.message


@pytest.fixture(scope="module")
def right_outcomes(jail: Jail) -> dict[int, Outcome]:
    """What comes of the solution, by the memory that it has."""
    outcomes = {}

    def run(self: Jail, *job: Any) -> Outcome:
        outcomes[self.limits.memory_mb] = run_job(self, *job)
        return outcomes[self.limits.memory_mb]

    run_job = Jail.run
    with mock.patch.object(Jail, "run", run):
        right = grade_answer(jail, every_exercise()["blockwise_attention"].solution, "blockwise_attention")
    assert right.verdict.passed and right.n_right == right.n_cases
    return outcomes


@linux
@pytest.mark.parametrize("reason", ["SIGKILL", "supervisor", "busy"])
@pytest.mark.parametrize("n_times", [1, 2])
def test_a_right_answer_that_others_end_where_memory_is_little_is_run_again(
    jail: Jail, right_outcomes: dict[int, Outcome], reason: str, n_times: int
):
    limits = []

    def run(self: Jail, *job: Any) -> Outcome:
        limits.append(self.limits.memory_mb)
        is_ended = self.limits.memory_mb == LITTLE_MEMORY_MB and limits.count(LITTLE_MEMORY_MB) <= n_times
        outcome = right_outcomes[self.limits.memory_mb]
        return replace(outcome, answer=None, reason=reason) if is_ended else outcome

    with mock.patch.object(Jail, "run", run):
        graded = grade_answer(jail, every_exercise()["blockwise_attention"].solution, "blockwise_attention")
    assert limits == [jail.limits.memory_mb, LITTLE_MEMORY_MB, LITTLE_MEMORY_MB]
    assert (graded.points, graded.verdict.status) == ((4, "passed") if n_times == 1 else (0, "crashed"))
    assert bool(graded.ended_by_others) == (n_times == 2)


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

    def run(self: Jail, job: dict[str, Any], *packed: bytes) -> Outcome:
        outcomes.append(run_job(self, job if outcomes else {**job, "clock": 1.5}, *packed))
        others.close()
        return outcomes[-1]

    run_job = Jail.run
    with Jail(Limits(seconds=0.5)) as jail, mock.patch.object(Jail, "run", run), others:
        assert jail.process is not None
        os.sched_setaffinity(jail.process.pid, {others.enter_context(busy_others(10))})
        graded = grade_answer(jail, COMPUTES.format(seconds=0.25))
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

    jail = FakeJail({})
    with mock.patch.object(jail, "run", run):
        assert grade_answer(jail, "x").verdict.status == "crashed"
        assert len(runs) == 1
        error["computed"] = 3.0  # it was the clock's limit
        assert grade_answer(jail, "x").ended_by_others and len(runs) == 3


def test_what_an_answer_waits_for_others_costs_it_nothing():
    jail = FakeJail({"missing": True})
    with mock.patch.object(jail, "run", lambda *_: Outcome({"missing": True}, "exit 0", 9.0, 8.5)):
        graded = grade_answer(jail, "x")
    assert graded.seconds == 9.0 and 0.5 <= graded.cost < 5.0


def test_one_that_waited_for_others_leaves_all_their_time_to_the_next():
    """By the clock, it took longer than all may take together; of its own, a second."""
    limits = []

    def assess_one(submission: Submission, exercise: Exercise, limit: Limits) -> GradedExercise:
        limits.append(limit.seconds)
        return GradedExercise(exercise, Verdict(exercise.name, "crashed", ""), 99.0, cost=1.0)

    graded = assess(SUBMISSION, Allowance(Limits(seconds=10.0)), assess_one)
    assert limits == [10.0] * len(graded.exercises)


@pytest.mark.parametrize(
    ("library_calls", "points", "remarks", "says"),
    [
        ("full", 2, [], None),
        ("remark", 2, ["calls `torch.softmax`"], "Remark: it calls `torch.softmax`."),
        ("none", 0, ["calls `torch.softmax`"], "it calls `torch.softmax`, so it has no points"),
    ],
)
def test_the_instructor_says_what_a_call_of_the_answer_costs(
    library_calls: str, points: int, remarks: list[str], says: str | None
):
    passed = GradedExercise(SOFTMAX, Verdict("softmax", "passed", "Right."), 0.1, 3, 3, 0.1, ["calls `torch.softmax`"])
    told = with_remarks(passed, library_calls)
    assert (told.points, [*told.remarks]) == (points, remarks)
    assert says in told.verdict.message if says else told.verdict.message == "Right."
    assert told.n_right == (3 if points else 0)
