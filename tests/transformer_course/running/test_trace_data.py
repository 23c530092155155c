"""Tests that serialized traces round-trip, and that malformed bytes are rejected."""

import pytest
import torch

from tests.transformer_course.cells import cell
from transformer_course.running.case import Case
from transformer_course.running.code_edits import MAX_EDITS
from transformer_course.running.instrumentation import MAX_EXPRESSIONS
from transformer_course.running.plain_data import NotPlainData, pack, same
from transformer_course.running.trace import Traced
from transformer_course.running.trace_data import (
    MAX_BYTES,
    MAX_TEXT,
    pack_edits,
    pack_expressions,
    pack_request,
    pack_traces,
    unpack_edits,
    unpack_expressions,
    unpack_request,
    unpack_traces,
)
from transformer_course.running.trace_recorder import MAX_EVENTS, ValueSequence

X = torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])
CASE = Case({"x": X}, "")
SOURCE = "def f(x):\n    x += 1\n    rows = [(row * 2, row.shape[0]) for row in x]\n    return rows[0][0] @ x.mT + 0.5"
TRACE = {"output": 1, "error": None, "crashed_in": None, "events": [], "writes": []}


def test_round_trip_preserves_expressions():
    expressions = Traced(cell(SOURCE)).expressions
    assert unpack_expressions(pack_expressions(expressions)) == expressions


def test_round_trip_preserves_edits():
    edits = Traced(cell(SOURCE)).edits
    assert len(edits) > 9
    assert unpack_edits(pack_edits(edits)) == edits


@pytest.mark.parametrize(
    "change",
    [{0: 1}, {1: "other"}, {2: 0}, {3: (2, 1)}, {4: 5}, {8: "1"}],
    ids=[
        "wrong number",
        "unknown kind",
        "line 0",
        "reversed columns",
        "line is not a string",
        "direction is not a number",
    ],
)
def test_rejects_invalid_edits(change):
    row = [0, "line", 1, (0, 1), "x()", "x()", "", "", 0]
    assert unpack_edits(pack({"edits": [row]}))[0].line == 1
    for index, value in change.items():
        row[index] = value
    with pytest.raises(NotPlainData):
        unpack_edits(pack({"edits": [row]}))


def test_rejects_too_many_edits():
    with pytest.raises(NotPlainData, match=f"at most {MAX_EDITS} edits"):
        unpack_edits(pack({"edits": [[]] * (MAX_EDITS + 1)}))


def test_round_trip_preserves_traces():
    traced = Traced(cell(SOURCE))
    sent = traced.run_twice(CASE)
    received = unpack_traces(pack_traces(sent), len(traced.expressions), 2)
    for before, after in zip(sent, received, strict=True):
        assert same(before.output, after.output)
        assert (before.error, before.crashed_in, before.writes) == (after.error, after.crashed_in, after.writes)
        assert before.writes
        assert same(
            [[e.number, e.evaluation, e.value] for e in before.events],
            [[e.number, e.evaluation, e.value] for e in after.events],
        )


def test_round_trip_preserves_location_of_crash():
    traced = Traced(cell("def f(x):\n    return x @ x"))
    sent = traced.run(CASE)
    [received] = unpack_traces(pack_traces([sent]), len(traced.expressions), 1)
    assert (received.error, received.crashed_in) == (sent.error, sent.crashed_in)
    assert received.error[0] == "RuntimeError"


def test_round_trip_preserves_requests():
    replacements = {0: X, 3: 2.5, 4: ValueSequence([X[0], X[1]])}
    request = unpack_request(pack_request(2, replacements, is_recording=False, times=1))
    assert (request["case"], request["is_recording"], request["times"]) == (2, False, 1)
    received = request["replacements"]
    assert same([received[0], received[3], received[4].values], [X, 2.5, [X[0], X[1]]])


def test_truncates_long_texts():
    text = "x" * 10 * MAX_TEXT
    traced = Traced(cell(f"def f(x):\n    return {text[:1]} + {len(text)} + len('{text}')"))
    received = unpack_expressions(pack_expressions(traced.expressions))
    assert all(len(expression.text) <= MAX_TEXT for expression in received)


EXPRESSION = [0, "<cell 1>", 1, [0, 1], "x", "x", (), "Name"]


@pytest.mark.parametrize(
    "rows",
    [
        3,
        None,
        {"a": 1},
        [3],
        [[]],
        [EXPRESSION[:-1]],
        [[1, *EXPRESSION[1:]]],
        [["0", *EXPRESSION[1:]]],
        [[0, "f", -5, *EXPRESSION[3:]]],
        [[0, "f", 2**62, *EXPRESSION[3:]]],
        [[0, "f", 1, [5, 1], *EXPRESSION[4:]]],
        [[0, "f", 1, [0, 2**62], *EXPRESSION[4:]]],
        [[0, "f", 1, [0, 1], torch.ones(3), *EXPRESSION[5:]]],
        [[0, "f", 1, [0, 1], "x", "x", (7,), "Name"]],
        [[0, "f", 1, [0, 1], "x", "x", (0,) * 300, "Name"]],
        [EXPRESSION] * (MAX_EXPRESSIONS + 1),
    ],
    ids=lambda rows: str(rows)[:30],
)
def test_rejects_invalid_expressions(rows):
    with pytest.raises(NotPlainData):
        unpack_expressions(pack({"expressions": rows}))


@pytest.mark.parametrize(
    "trace",
    [
        3,
        {},
        {**TRACE, "events": 3},
        {**TRACE, "events": [3]},
        {**TRACE, "events": [[0, 0]]},
        {**TRACE, "events": [[7, 0, 1.0]]},
        {**TRACE, "events": [[-1, 0, 1.0]]},
        {**TRACE, "events": [[True, 0, 1.0]]},
        {**TRACE, "events": [[0, 0, "text"]]},
        {**TRACE, "events": [[0, 0, None]]},
        {**TRACE, "events": [[0, 0, {"a": 1}]]},
        {**TRACE, "events": [[0, 0, [[[[1]]]]]]},
        {**TRACE, "events": [[0, 0, [1] * 99]]},
        {**TRACE, "events": [[0, 0, torch.ones(9999)]]},
        {**TRACE, "events": [[0, 0, torch.ones(2, dtype=torch.complex64)]]},
        {**TRACE, "events": [[0, 0, 1.0]] * (MAX_EVENTS + 1)},
        {**TRACE, "error": "text"},
        {**TRACE, "error": [1, 2]},
        {**TRACE, "crashed_in": 7},
        {**TRACE, "crashed_in": "0"},
        {**TRACE, "writes": [[9, "x"]]},
        {**TRACE, "writes": [3]},
    ],
    ids=lambda trace: str(trace)[-60:],
)
def test_rejects_invalid_traces(trace):
    with pytest.raises(NotPlainData):
        unpack_traces(pack({"traces": [trace]}), n_expressions=2, n_traces=1)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"garbage",
        bytes(MAX_BYTES + 1),
        pack(3),
        pack({"other": []}),
        pack({"traces": []}),
        pack({"traces": [TRACE, TRACE]}),
        pack({"traces": [{**TRACE, "output": torch.ones(MAX_BYTES)}]}),
    ],
    ids=lambda data: f"{len(data)}_bytes",
)
def test_rejects_malformed_bytes(data):
    with pytest.raises(NotPlainData):
        unpack_traces(data, n_expressions=2, n_traces=1)


def test_truncates_error_type_and_message():
    error = ["E" * 10**5, "m" * 10**5]
    [trace] = unpack_traces(pack({"traces": [{**TRACE, "error": error}]}), 2, 1)
    assert len(trace.error[0]) == len(trace.error[1]) == MAX_TEXT
