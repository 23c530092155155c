"""Traces survive the transfer to another process, and other bytes are rejected."""

import pytest
import torch

from tests.transformer_course.cells import cell
from transformer_course.running.case import Case
from transformer_course.running.code_edits import MAX_EDITS
from transformer_course.running.plain_data import NotPlainData, pack, same
from transformer_course.running.trace import MAX_EVENTS, MAX_EXPRESSIONS, Traced, ValueSequence
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
    ids=["number", "kind", "line", "columns", "no text", "no direction"],
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
    arrived = unpack_traces(pack_traces(sent), len(traced.expressions), 2)
    for one, other in zip(sent, arrived, strict=True):
        assert same(one.output, other.output)
        assert (one.error, one.crashed_in, one.writes) == (other.error, other.crashed_in, other.writes)
        assert one.writes
        assert same(
            [[e.number, e.evaluation, e.value] for e in one.events],
            [[e.number, e.evaluation, e.value] for e in other.events],
        )


def test_round_trip_preserves_location_of_crash():
    traced = Traced(cell("def f(x):\n    return x @ x"))
    sent = traced.run(CASE)
    [arrived] = unpack_traces(pack_traces([sent]), len(traced.expressions), 1)
    assert (arrived.error, arrived.crashed_in) == (sent.error, sent.crashed_in)
    assert arrived.error[0] == "RuntimeError"


def test_round_trip_preserves_requests():
    put = {0: X, 3: 2.5, 4: ValueSequence([X[0], X[1]])}
    request = unpack_request(pack_request(2, put, is_watched=False, times=1))
    assert (request["case"], request["is_watched"], request["times"]) == (2, False, 1)
    assert same([request["put"][0], request["put"][3], request["put"][4].values], [X, 2.5, [X[0], X[1]]])


def test_cuts_long_texts():
    text = "x" * 10 * MAX_TEXT
    traced = Traced(cell(f"def f(x):\n    return {text[:1]} + {len(text)} + len('{text}')"))
    assert all(len(one.text) <= MAX_TEXT for one in unpack_expressions(pack_expressions(traced.expressions)))


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
def test_rejects_other_bytes(data):
    with pytest.raises(NotPlainData):
        unpack_traces(data, n_expressions=2, n_traces=1)


def test_error_message_is_short():
    error = ["E" * 10**5, "m" * 10**5]
    [trace] = unpack_traces(pack({"traces": [{**TRACE, "error": error}]}), 2, 1)
    assert len(trace.error[0]) == len(trace.error[1]) == MAX_TEXT
