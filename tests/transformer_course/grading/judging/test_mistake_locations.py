"""Tests for locating mistakes with traces from the sandbox. The traces may be forged and must not change points."""

import html
import time
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.transformer_course.cells import cell
from tests.transformer_course.sandbox.sample_submissions import SEED, FakeSandbox, grade_answer, linux, still_works
from transformer_course.checking.expected_behavior import behavior
from transformer_course.exercises import every_exercise
from transformer_course.grading.incoming.submission import Submission
from transformer_course.grading.judging import judge_answer, mistake_locations
from transformer_course.grading.judging.graded_results import GradedSubmission
from transformer_course.grading.judging.mistake_locations import OTHER_CASES_NOTE, SecondRun, location_seed
from transformer_course.grading.reports.class_results import class_results
from transformer_course.grading.reports.feedback import feedback_page
from transformer_course.locating.fault_location import locate
from transformer_course.locating.fault_wording import REST_IS_RIGHT
from transformer_course.locating.substituted_runs import is_small
from transformer_course.running.plain_data import pack
from transformer_course.running.trace import Traced
from transformer_course.sandbox.sandbox import Sandbox
from transformer_course.sandbox.trace_conversation import Conversation

NAME = "scaled_dot_product_attention"
HEAD = f"import math\nimport torch.nn.functional as F\ndef {NAME}(queries, keys, values):\n"
WRONG = [
    "scores = queries @ keys.mT / keys.shape[-1] ** 0.5",
    "weights = torch.softmax(scores * 1.7, dim=-1)",
    "return weights @ values",
]
RIGHT = [WRONG[0], "weights = torch.softmax(scores, dim=-1)", WRONG[2]]


def source(lines, head=HEAD):
    return head + "".join(f"    {line}\n" for line in lines)


def page(graded, lesson="02_scaling"):
    notebook = Submission("ada", Path("ada.ipynb"), lesson)
    [ada] = class_results({"ada": [GradedSubmission(notebook, [graded])]}).students
    return feedback_page(ada)


def test_feedback_page_marks_the_wrong_expression(sandbox: Sandbox):
    graded = grade_answer(sandbox, source(WRONG), NAME)
    assert graded.verdict.status == "wrong"
    assert "Line 5: here you should compute the scores" in graded.verdict.message
    displayed = html.unescape(page(graded))
    marked = "line 5:  weights = torch.softmax(scores * 1.7, dim=-1)"
    assert f"{marked}\n{' ' * marked.index('scores')}{'^' * len('scores * 1.7')}" in displayed
    assert "here you should compute the scores" in displayed


def test_does_not_trace_answer_without_remaining_time():
    """Tracing is skipped, because a notebook that has used up its allowance could sleep while it is traced."""
    sandbox = FakeSandbox({})
    with ExitStack() as stack:
        second_run = SecondRun(every_exercise()[NAME], {}, sandbox, SEED, 0.0, stack)
        assert second_run.traced is None and second_run.observed() == [] and second_run.cost == 0
    assert sandbox.jobs == []


def test_locating_does_not_change_points_or_status(sandbox: Sandbox, monkeypatch):
    answers = [
        RIGHT,
        WRONG,
        ["scores = queries @ keys", *RIGHT[1:]],
        ["queries /= 1", *RIGHT],
        ["queries *= 2", *RIGHT],
    ]
    located = [grade_answer(sandbox, source(lines), NAME) for lines in answers]
    monkeypatch.setattr(judge_answer, "with_location", lambda verdict, *_: verdict)
    unlocated = [grade_answer(sandbox, source(lines), NAME) for lines in answers]
    assert [result.points for result in located] == [result.points for result in unlocated]
    assert [result.points > 0 for result in unlocated] == [True, False, False, True, False]
    for result, other in zip(located, unlocated, strict=True):
        assert replace(result.verdict, message="", hints=()) == replace(other.verdict, message="", hints=())
        assert other.verdict.message.splitlines()[0].lower() in result.verdict.message.lower()
        assert (result.verdict.message == other.verdict.message) == other.verdict.passed


def test_location_matches_location_found_outside_sandbox(sandbox: Sandbox):
    known = behavior(every_exercise()[NAME], location_seed(SEED))
    location = locate(known, Traced(cell(source(WRONG), NAME)))
    assert location is not None
    found = location.message.replace(f" {REST_IS_RIGHT}", "")  # in the sandbox, the large cases are not traced
    assert grade_answer(sandbox, source(WRONG), NAME).verdict.message.startswith(
        f"{found}\n{OTHER_CASES_NOTE}\nCase 1 of"
    )


def test_locates_loop_mistake_in_sandbox(sandbox: Sandbox):
    code = f"""\
def {NAME}(queries, keys, values):
    rows = []
    for i in range(queries.shape[-2] - 1):
        scores = (queries[..., i : i + 1, :] * keys).sum(-1) / keys.shape[-1] ** 0.5
        rows.append(torch.softmax(scores, -1).unsqueeze(-2) @ values)
    return torch.cat(rows, -2)
"""
    assert "Line 3: your loop stops one iteration too early." in grade_answer(sandbox, code, NAME).verdict.message


def test_location_seed_differs_from_graded_seed():
    assert all(location_seed(seed) != seed for seed in (0, 1, 2, SEED, 2**63 - 1))


def test_locates_mistake_where_earlier_exercise_is_called(sandbox: Sandbox):
    earlier = "def attention_weights(queries, keys):\n    return torch.softmax(queries @ keys.mT, -1)"
    call = "return attention_weights(queries, queries) @ values"
    answer = f"{earlier}\ndef attention(queries, keys, values):\n    {call}"
    assert (
        f"you use `queries` instead of `keys`.\n    line 4:  {call}\n"
        in grade_answer(sandbox, answer, "attention").verdict.message
    )


def test_reports_crash_with_shapes(sandbox: Sandbox):
    graded = grade_answer(
        sandbox, source(["scores = queries @ keys", "return torch.softmax(scores, -1) @ values"]), NAME
    )
    assert graded.verdict.status == "crashed"
    assert ", you combine these shapes: `queries` (" in graded.verdict.message


TRACE = {"output": None, "error": None, "crashed_in": None, "events": [], "writes": []}
SCRIPT_TAG = "<script>alert(1)</script>"
EXPRESSION = [0, "<cell 1>", 1, [0, 1], SCRIPT_TAG, SCRIPT_TAG, (), "Call"]
HOSTILE = {
    "nothing": [b""],
    "invalid data": [b"invalid"],
    "nested": [b"[" * 10_000],
    "deep": [pack({"traces": [{**TRACE, "output": [[[[[[1]]]]]]}]})],
    "wrong types": [pack({"traces": [{**TRACE, "events": [["a", {}, None]]}]})],
    "many events": [pack({"traces": [{**TRACE, "events": [[0, 0, 1]] * 9000}]})],
    "no such expression": [pack({"traces": [{**TRACE, "events": [[999, 0, 1.0]]}]})],
    "strange output": [pack({"traces": [{**TRACE, "output": {"a": [None]}}]})],
    "huge shape": [pack({"traces": [{**TRACE, "output": torch.ones(0, 2**40)}]})],
    "wrong output": [pack({"traces": [{**TRACE, "output": torch.ones(2)}]})] * 20,
}
"""Forged replies that a hostile answer may send instead of its traces."""


def sending(replies, where, then="os._exit(0)"):
    """Return an answer that sends forged replies when it is traced, and then runs a statement.

    Args:
        replies: The forged replies.
        where: When to send the replies: ``call`` for the call of the answer, or ``define`` for its definition.
        then: The statement to run afterwards.
    """
    data = b"".join(len(reply).to_bytes(8, "big") + reply for reply in replies)
    act = f"if is_traced():\n        os.write(3, {data!r})\n        {then}"
    return (
        "import os, sys, time\n"
        "def is_traced():\n"
        "    frame = sys._getframe()\n"
        "    while frame and frame.f_code.co_name != 'serve_traces':\n"
        "        frame = frame.f_back\n"
        "    return frame is not None\n"
        f"def define():\n    {act}\n    return 3\n"
        f"THREE = {'define()' if where == 'define' else '3'}\n"
        f"def softmax(s):\n    {act if where == 'call' else 'pass'}\n    return s * THREE\n"
    )


@linux
@pytest.mark.parametrize("where", ["define", "call"])
@pytest.mark.parametrize("replies", HOSTILE.values(), ids=HOSTILE)
def test_hostile_trace_changes_only_its_own_feedback(sandbox: Sandbox, replies, where):
    graded = grade_answer(sandbox, sending(replies, where))
    assert (graded.verdict.status, graded.points) == ("wrong", 0)
    assert "Case 1" in graded.verdict.message
    assert still_works(sandbox)


@linux
def test_escapes_forged_location_and_awards_no_points(sandbox: Sandbox):
    """The forged trace has a single expression, whose replacement always gives the right output."""
    expected = behavior(every_exercise()["softmax"], location_seed(SEED)).expected
    n_small = sum(is_small(case) for case in behavior(every_exercise()["softmax"], location_seed(SEED)).cases)
    outputs = [observed["output"] for observed in expected[:n_small]]
    wrong = [{**TRACE, "output": output + 1, "events": [[0, 0, output + 1]]} for output in outputs]
    right = [{**TRACE, "output": output} for output in outputs]
    traces = [pack({"traces": [trace]}) for trace in wrong]
    twice = [pack({"traces": [wrong[0], wrong[0]]})]
    replies = [pack({"expressions": [EXPRESSION]}), pack({"records": []}), *traces, *twice]
    replies += [pack({"traces": [trace]}) for trace in right] * 3
    graded = grade_answer(sandbox, sending(replies, "define", "time.sleep(600)"))
    assert (graded.verdict.status, graded.points) == ("wrong", 0)
    displayed = page(graded, "01_lookup")
    assert "<script" not in displayed
    assert html.escape(SCRIPT_TAG) in displayed


@linux
@pytest.mark.parametrize(("where", "then"), [("call", "while True: pass"), ("define", "time.sleep(600)")])
def test_endless_trace_takes_only_a_few_seconds(sandbox: Sandbox, monkeypatch, where, then):
    monkeypatch.setattr(mistake_locations, "TRACE_TIME_LIMIT_S", 0.1)
    started = time.monotonic()
    graded = grade_answer(sandbox, sending([], where, then))
    assert graded.verdict.status == "wrong"
    assert time.monotonic() - started < 300
    assert still_works(sandbox)


SLEEPS_WHEN_TRACED = sending([], "call", "time.sleep(600)")


@linux
@pytest.mark.parametrize("waited", [0.0, 99.0])
def test_only_time_spent_in_the_answer_counts(sandbox: Sandbox, monkeypatch, waited):
    """The wall-clock time is the same whether all or none of it is attributed to other processes."""
    monkeypatch.setattr(mistake_locations, "TRACE_TIME_LIMIT_S", 0.5)
    if waited:
        exchange = Conversation._exchange

        def exchange_and_wait(self, question=None):
            reply = exchange(self, question)
            self.waited = waited
            return reply

        monkeypatch.setattr(Conversation, "_exchange", exchange_and_wait)
    graded = grade_answer(sandbox, SLEEPS_WHEN_TRACED)
    assert graded.verdict.status == "wrong"
    slept = 3 * 0.5  # seconds of wall-clock time until the answer is killed
    assert (graded.cost - graded.seconds > 0.9 * slept) == (not waited)


def test_recognizes_mistake_in_second_run(sandbox: Sandbox):
    """The answer makes a different mistake when it runs again than on the graded cases."""
    two_faced = sending([], "call", "return s.softmax(0)")
    graded = grade_answer(sandbox, two_faced)
    assert (graded.verdict.mistakes, graded.points, graded.n_right) == (("first_axis",), 0, 0)
    right = grade_answer(sandbox, two_faced.replace("return s * THREE", "return s.softmax(-1)"))
    assert right.verdict.passed and right.points == 2


def test_recognizes_mistake_in_slow_answer_from_graded_cases(sandbox: Sandbox, monkeypatch):
    monkeypatch.setattr(judge_answer, "QUICK_ANSWER_S", 0.0)
    calls = []
    monkeypatch.setattr(mistake_locations.TracedInSandbox, "records", lambda self: calls.append(self))
    graded = grade_answer(sandbox, "def softmax(s):\n    return s.softmax(0)")
    assert (graded.verdict.mistakes, calls) == (("first_axis",), [])


def test_untraceable_answer_keeps_its_verdict(sandbox: Sandbox):
    graded = grade_answer(sandbox, "softmax = lambda s: s * 7")
    assert (graded.verdict.status, graded.verdict.hints) == ("wrong", ())
