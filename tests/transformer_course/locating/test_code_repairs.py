"""Tests that a repairing edit is reported only if it repairs all cases."""

import pytest

from tests.transformer_course.cells import cell
from tests.transformer_course.locating.fault_in import checked, fault_in
from transformer_course.checking.expected_behavior import behavior
from transformer_course.exercises import every_exercise
from transformer_course.lesson.session import Session
from transformer_course.locating.fault_search import FaultSearch
from transformer_course.running.trace import Traced
from transformer_course.running.trace_recorder import Trace

HEAD = "def similarity(query, keys):"
LOOP = (
    "scores = torch.zeros(len(keys))",
    "for i in range(len(keys)):",
    "    total = 0",
    "    for j in range(len(query)):",
    "        total += keys[i, j] * query[j]",
    "    scores[i] = total",
    "return scores",
)


def fault_after(old, new):
    lines = [line.replace(old, new) for line in LOOP]
    assert lines != [*LOOP]
    return fault_in(*lines, head=HEAD, name="similarity")


def check(*lines, name="similarity", head=HEAD):
    return Session(every_exercise()).check(cell("\n".join([head, *(f"    {line}" for line in lines)]), name))


def test_unmodified_loop_passes():
    assert check(*LOOP).passed


@pytest.mark.parametrize(
    ("old", "new", "line", "sentence"),
    [
        ("range(len(query))", "range(len(query) - 1)", 5, "your loop stops one iteration too early"),
        ("range(len(query))", "range(1, len(query))", 5, "your loop starts one iteration too late"),
        ("keys[i, j]", "keys[i, j - 1]", 6, "your index is too small by one"),
        ("total +=", "total =", 6, "you overwrite `total` where you should add to it"),
    ],
)
def test_reports_slip_in_loop(old, new, line, sentence):
    fault = fault_after(old, new)
    assert fault.problem.startswith(f"Line {line}: {sentence}")


def test_reports_start_value_that_is_never_reset():
    total = LOOP[2].strip()
    lines = [LOOP[0], total, LOOP[1], *LOOP[3:]]
    message = check(*lines).message
    assert message.startswith("Line 3: you set `total` only once, before the loop,")
    assert "    line 3:  total = 0\n" in message


def test_reports_nothing_if_no_edit_repairs_output():
    assert fault_after("keys[i, j] * query[j]", "keys[i, j] * keys[i, j] * 0.3") is None


def test_message_about_loop_replaces_message_about_effect():
    lines = (
        "rows = []",
        "for i in range(queries.shape[-2] - 1):",
        "    s = (queries[..., i : i + 1, :] * keys).sum(-1) / keys.shape[-1] ** 0.5",
        "    rows.append(torch.softmax(s, -1).unsqueeze(-2) @ values)",
        "return torch.cat(rows, -2)",
    )
    assert "your loop stops one iteration too early" in checked(*lines).message


def test_tries_every_edit_only_once(monkeypatch):
    source = f"{HEAD}\n    return (keys * query).sum(-1) + 1.5 * query.sum() ** 2"
    traced, tried = Traced(cell(source, "similarity")), []
    monkeypatch.setattr(traced, "run_edited", lambda case, number: tried.append((case, number)) or Trace())
    search = FaultSearch(behavior(every_exercise()["similarity"], 0), traced)
    for _ in range(2):
        assert search.repair() is None and search.repair(("name", "number")) is None
    assert len(tried) == len({(id(case), number) for case, number in tried}) == len(traced.edits) > 5
