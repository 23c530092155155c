"""Tests for the tracing job, which first sends an answer's expressions, and then one reply per request."""

import sys

import pytest
import torch

import transformer_course
from transformer_course.lesson import notebook
from transformer_course.running.case import Case
from transformer_course.running.plain_data import same, unpack
from transformer_course.running.trace_data import ALL_RECORDS, pack_request, unpack_expressions, unpack_traces
from transformer_course.running.trace_job import MAX_REQUESTS, serve_traces

X = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


@pytest.fixture(autouse=True)
def _restored_modules(monkeypatch):
    """Restore the course's modules after a job, which may replace them because it normally runs in its own process."""
    monkeypatch.setitem(sys.modules, notebook.__name__, notebook)
    before = dict(vars(transformer_course))
    yield
    vars(transformer_course).clear()
    vars(transformer_course).update(before)


def replies_to(source, *requests):
    """Serve requests for an answer named ``f``, and return the replies."""
    job = {
        "name": "f",
        "cells": [{"id": "f", "source": source}],
        "cases": [Case({"x": X}, "").as_dict()],
        "seconds": 9.0,
        "library": "{}",
    }
    waiting, replies = [*requests, b""], []
    serve_traces(job, lambda: waiting.pop(0), replies.append)
    return replies


def test_sends_expressions_then_requested_traces():
    expressions, trace, unrecorded, two_calls = replies_to(
        "seen = []\ndef f(x):\n    seen.append(1)\n    return x * 3 + len(seen)",
        pack_request(0, {}),
        pack_request(0, {2: X}, is_recording=False),
        pack_request(0, {}, times=2),
    )
    known = unpack_expressions(expressions)
    number = next(one.number for one in known if one.text == "x * 3")
    [trace] = unpack_traces(trace, len(known), 1)
    assert same(trace.output, X * 3 + 1)
    assert same(trace.values(number), [X * 3])
    [unrecorded] = unpack_traces(unrecorded, len(known), 1)
    assert unrecorded.events == []
    first, second = unpack_traces(two_calls, len(known), 2)
    assert same(second.output, first.output + 1)


def test_returns_records_of_all_cases():
    _, records, _ = replies_to("def f(x):\n    return x * 3", ALL_RECORDS, pack_request(0, {}))
    [record] = unpack(records)["records"]
    assert same(record["output"], X * 3) and same(record["again"], X * 3)


def test_untraceable_answer_has_no_expressions():
    for source in ("x = 1", "def f(x:", "1 / 0\nf = 3", "f = torch.softmax", "f = lambda x: x"):
        [reply] = replies_to(source)
        assert unpack(reply) == {}


def test_limits_number_of_requests():
    replies = replies_to("def f(x):\n    return x", *[pack_request(0, {})] * (MAX_REQUESTS + 9))
    assert len(replies) == 1 + MAX_REQUESTS


def test_traces_cell_with_magic_commands():
    source = "%matplotlib inline\ndef f(x):\n    return x * 3\n!ls"
    expressions, trace = replies_to(source, pack_request(0, {}))
    known = unpack_expressions(expressions)
    assert [(one.text, one.line, one.source_line) for one in known if one.kind == "BinOp"] == [
        ("x * 3", 3, "    return x * 3")
    ]
    assert same(unpack_traces(trace, len(known), 1)[0].output, X * 3)
