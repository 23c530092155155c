import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.transformer_course.sandbox.sample_submissions import FakeSandbox, cells
from transformer_course.checking.verdict import Verdict
from transformer_course.exercise import Exercise
from transformer_course.exercises import every_exercise, exercises_of
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging.assess import Allowance, assess, assess_exercise, with_remarks
from transformer_course.grading.judging.graded_results import GradedExercise, GradedSubmission
from transformer_course.grading.judging.run_answer import AnswerChoice
from transformer_course.sandbox.resource_limits import Limits
from transformer_course.sandbox.sandbox import Sandbox

SOFTMAX = every_exercise()["softmax"]


def graded_in(sandbox: Sandbox, submission: Submission, seed: int) -> GradedSubmission:
    return assess(
        submission,
        Allowance(sandbox.limits),
        lambda notebook, exercise, _, choice: assess_exercise(notebook, exercise, sandbox, seed, choice),
    )


SUBMISSION = Submission("ada", Path("01_lookup.ipynb"), "01_lookup", [{"id": "x", "source": "y"}])


def test_sandbox_receives_cases_without_seed_or_reference():
    sandbox = FakeSandbox({"missing": True})
    notebook = graded_in(sandbox, SUBMISSION, 987_123_654)
    assert [job["name"] for job in sandbox.jobs] == [result.exercise.name for result in notebook.exercises]
    for job in sandbox.jobs:
        assert job.keys() == {"name", "asked", "cells", "cases", "seconds", "clock", "library", "answer", "given"}
        assert job["name"] not in json.loads(job["library"])
        assert "987123654" not in str(job)


def test_cell_ids_do_not_enter_the_sandbox():
    """IDs of 100 characters on 5000 cells could contain a hidden table of answers."""
    ids = ["check-softmax", "0.1 0.2 0.7", "check-0.1", "softmax", ""]
    cells = [{"id": name, "source": f"x = {i}"} for i, name in enumerate(ids)]
    sandbox = FakeSandbox({"missing": True})
    graded_in(sandbox, Submission("ada", Path("01_lookup.ipynb"), "01_lookup", cells), 7)
    assert len(sandbox.jobs) > 1
    for job in sandbox.jobs:
        assert job["cells"] == [{"source": cell["source"]} for cell in cells]


def test_limits_learner_text_to_printable_characters():
    sandbox = FakeSandbox({"crash": {"type": "E", "message": "\ud800" * 10**5}})
    for result in graded_in(sandbox, SUBMISSION, 7).exercises:
        assert len(result.verdict.message) < 5000 and result.verdict.message.encode()
        assert (result.points, result.seconds) == (0, 0.25)


def test_does_not_run_unreadable_submission():
    sandbox = FakeSandbox({})
    assert graded_in(sandbox, Submission("ada", Path("x"), "01_lookup", problem="It is damaged."), 7).exercises == []
    assert sandbox.jobs == []


def graded_by_text(submission: Submission, exercise: Exercise, _: Limits, choice: AnswerChoice) -> GradedExercise:
    """Grade answers by their text. An answer passes if neither the answer nor its ``softmax`` contains "wrong"."""
    above = [cell["source"] for cell in submission.cells]
    defining = next(i for i, source in enumerate(above) if source.startswith(f"def {exercise.name}("))
    text = above[defining]
    used = [source for source in above[:defining] if source.startswith("def softmax(") and "softmax(" in text[5:]]
    is_right = "wrong" not in text and not (used and "wrong" in used[-1] and "softmax" not in choice.given)
    return GradedExercise(exercise, Verdict(exercise.name, "passed" if is_right else "wrong", "As is."), 0.1)


@pytest.mark.parametrize(
    ("rest", "status"), [("return softmax(query)", "passed"), ("return softmax('wrong')", "wrong")]
)
def test_mistake_in_earlier_answer_costs_points_once(rest: str, status: str):
    answers = {
        **{exercise.name: f"def {exercise.name}(x): pass" for exercise in exercises_of("01_lookup")},
        "softmax": "def softmax(x):\n    return 'wrong'",
        "attention_weights": f"def attention_weights(query):\n    {rest}",
    }
    submission = Submission("ada", Path("x"), "01_lookup", cells(answers))
    graded = {
        result.exercise.name: result.verdict
        for result in assess(submission, Allowance(Limits()), graded_by_text).exercises
    }
    assert graded.pop("softmax").status == "wrong" and graded["attention_weights"].status == status
    message = "right with the course's `softmax` instead of yours" in graded.pop("attention_weights").message
    assert message == (status == "passed") and {verdict.message for verdict in graded.values()} == {"As is."}


def test_dependent_answer_passes_with_course_version_of_part(sandbox: Sandbox):
    """The course's part replaces the learner's function even in an earlier cell or an indirect call."""
    scores = "-(torch.cdist(queries, keys) ** 2) / 2"
    own = f"def distance_attention(queries, keys, values):\n    return softmax({scores}) @ values"
    answers = {
        "softmax": "def softmax(scores):\n    return scores.softmax(-1) / 2",
        "attention_weights": "def attention_weights(queries, keys):\n    return softmax(queries @ keys.mT)",
        "attention": "def attention(queries, keys, values):\n    return attention_weights(queries, keys) @ values",
        "distance_attention": own,
    }
    submission = Submission("ada", Path("x"), "01_lookup", cells(answers))
    lesson = exercises_of("01_lookup")

    def assess_one(notebook: Submission, exercise: Exercise, _: Limits, choice: AnswerChoice) -> GradedExercise:
        if exercise.name not in answers:
            return GradedExercise(exercise, Verdict(exercise.name, "not_started", ""), 0.0)
        return assess_exercise(notebook, exercise, sandbox, 7, choice)

    graded = {
        result.exercise.name: result for result in assess(submission, Allowance(sandbox.limits), assess_one).exercises
    }
    assert len(graded) == len(lesson)
    assert [graded[name].verdict.passed for name in answers] == [False, True, True, True]
    assert graded["attention"].n_right == graded["attention"].n_cases > 0
    assert graded["softmax"].n_right < graded["softmax"].n_cases


def test_other_processes_do_not_use_up_allowance():
    """Each answer takes 99 seconds of wall-clock time but only one second of CPU time."""
    limits = []

    def assess_one(submission: Submission, exercise: Exercise, limit: Limits, _: AnswerChoice) -> GradedExercise:
        limits.append(limit.seconds)
        return GradedExercise(exercise, Verdict(exercise.name, "crashed", ""), 99.0, cost=1.0)

    graded = assess(SUBMISSION, Allowance(Limits(seconds=10.0)), assess_one)
    assert limits == [10.0] * len(graded.exercises)


@pytest.mark.parametrize(
    ("library_calls", "points", "remarks", "message"),
    [
        ("full", 2, [], None),
        ("remark", 2, ["calls `torch.softmax`"], "Remark: your answer calls `torch.softmax`."),
        ("none", 0, ["calls `torch.softmax`"], "your answer calls `torch.softmax`, so it gets no points"),
    ],
)
def test_library_calls_option_sets_the_points(library_calls: str, points: int, remarks: list[str], message: str | None):
    passed = GradedExercise(SOFTMAX, Verdict("softmax", "passed", "Right."), 0.1, 3, 3, 0.1, ["calls `torch.softmax`"])
    report = with_remarks(passed, library_calls)
    assert (report.points, [*report.remarks]) == (points, remarks)
    assert message in report.verdict.message if message else report.verdict.message == "Right."
    assert report.n_right == (3 if points else 0)


def test_reports_answer_defined_only_in_markdown_cell():
    sandbox = FakeSandbox({"missing": True})
    texts = ["def softmax(scores):\n    return scores.softmax(-1)"]
    graded = graded_in(sandbox, replace(SUBMISSION, texts=texts), 7)
    by_name = {result.exercise.name: with_remarks(result, "remark") for result in graded.exercises}
    softmax = by_name.pop("softmax")
    assert softmax.verdict.message.startswith("You define `softmax` in a Markdown or raw cell")
    assert "code cell" in softmax.verdict.message
    assert [*softmax.remarks] == [
        "is defined in a Markdown or raw cell, which does not run"
    ]  # the remark is for the instructor
    assert {result.verdict.message for result in by_name.values()} == {f"No cell defines `{name}`." for name in by_name}


def test_first_right_answer_counts():
    def graded(*statuses: str) -> tuple[int, int]:
        tried = []

        def assess_one(_: Submission, exercise: Exercise, __: Limits, choice: AnswerChoice) -> GradedExercise:
            tried.append(choice.number)
            verdict = Verdict(exercise.name, statuses[choice.number], "")  # type: ignore[arg-type]
            return GradedExercise(exercise, verdict, 0.1, answer=choice.number, n_answers=len(statuses))

        counted = assess(SUBMISSION, Allowance(Limits()), assess_one).exercises[0]
        return counted.answer, max(tried) + 1

    assert graded("passed", "wrong") == (0, 1)
    assert graded("wrong", "passed", "wrong") == (1, 2)
    assert graded("not_started", "wrong", "crashed") == (1, 3)
    assert graded("not_started", "not_started") == (0, 2)


def test_does_not_run_later_answers_without_remaining_time():
    def assess_one(_: Submission, exercise: Exercise, limits: Limits, choice: AnswerChoice) -> GradedExercise:
        verdict = Verdict(exercise.name, "crashed", "")
        return GradedExercise(exercise, verdict, limits.seconds, cost=limits.seconds, answer=choice.number, n_answers=4)

    allowance = Allowance(Limits(seconds=10.0))
    assess(SUBMISSION, allowance, assess_one)
    assert allowance.spent <= 2 * 10.0 + len(exercises_of("01_lookup"))


def test_endless_answers_share_the_allowance():
    """An endless loop must not cost points in other exercises, and several endless loops must take little time."""
    lesson = exercises_of("01_lookup")
    limits: list[float] = []

    def run_endlessly(_: Submission, exercise: Exercise, given: Limits, __: AnswerChoice) -> GradedExercise:
        limits.append(given.seconds)
        return GradedExercise(exercise, Verdict(exercise.name, "crashed", ""), given.kill_after, cost=given.kill_after)

    assess(
        Submission("ada", Path("x"), "01_lookup", [{"id": "", "source": ""}]),
        Allowance(Limits(seconds=10.0)),
        run_endlessly,
    )
    assert limits == [10.0, 7.0, *[1.0] * (len(lesson) - 2)]


@pytest.mark.parametrize("n_answers", [1, 4])
@pytest.mark.parametrize("names_others", [False, True])
def test_hostile_notebook_takes_at_most_its_allowance(names_others: bool, n_answers: int):
    """Together, the answers may take twice the limit for one exercise, plus a second each, even if each could rerun."""
    lesson = exercises_of("01_lookup")
    took: list[float] = []

    def run_endlessly(_: Submission, exercise: Exercise, given: Limits, choice: AnswerChoice) -> GradedExercise:
        took.append(given.kill_after)
        verdict = Verdict(exercise.name, "crashed", "")
        cost = given.kill_after
        return GradedExercise(exercise, verdict, cost, cost=cost, answer=choice.number, n_answers=n_answers)

    comment = " ".join(exercise.name for exercise in lesson) * names_others
    cells = [{"id": exercise.name, "source": f"def {exercise.name}(): ...  # {comment}"} for exercise in lesson]
    graded = assess(Submission("eve", Path("x"), "01_lookup", cells), Allowance(Limits(seconds=10.0)), run_endlessly)
    assert len(graded.exercises) == len(lesson) and sum(took) <= 2 * 10.0 + len(lesson)


def test_judging_and_tracing_use_up_the_allowance():
    observed: list[float] = []

    def judge_slowly(_: Submission, exercise: Exercise, given: Limits, __: AnswerChoice) -> GradedExercise:
        observed.append(given.seconds)
        return GradedExercise(exercise, Verdict(exercise.name, "crashed", ""), 0.1, cost=12.0)

    allowance = Allowance(Limits(seconds=10.0))
    graded = [assess(Submission("eve", Path("x"), "01_lookup"), allowance, judge_slowly) for _ in range(50)]
    assert observed == [10.0, 6.0, 1.0, 1.0, 1.0, 1.0]  # after three times the allowance, no more code runs
    last = graded[-1].exercises[-1]
    assert last.points == 0 and "was not run, because your notebooks for this lesson" in last.verdict.message
